import type { Client } from '../../src/api/client.ts';
import type { Envelope } from '../../src/api/schemas.ts';
import { createBody } from '../../src/envelopes/create.ts';
import { isAmbiguous, isRefusedByState } from '../../src/kernel/request-failures.ts';
import { isVoid } from '../../src/kernel/vocabulary.ts';
import type { Actor, Machine } from './actor.ts';

/** The rules of the protocol. Without any one of them, somebody is emailed twice, or a draft is left. */
export interface Rules {
  /** Sends the oldest draft of all, not its own. */
  oldest: boolean;
  /** Decides by a reading two seconds after one that showed its own draft. */
  waits: boolean;
  /** An envelope that was sent comes before older drafts. */
  sentFirst: boolean;
  /** Cancels the other drafts. */
  tidies: boolean;
  /** After a process that was killed, decides a minute after the start at the earliest. */
  minute: boolean;
}

export const ALL_RULES: Rules = { oldest: true, waits: true, sentFirst: true, tidies: true, minute: true };

const SETTLE_MS = 2_000;
const MINUTE_MS = 60_000;

/**
 * The smallest command that creates an envelope once, also on several machines: it creates a draft, lets the list settle, and sends
 * the draft that all machines choose. The explorer is tested with it, since each of its rules is needed.
 */
export function reserveSettleSend(rules: Rules): Actor {
  return async (machine) => {
    const { client, clock, journal } = machine;
    const isLater = (await journal.read()).length > 0;
    await journal.append(['started']);
    const decidesAt = isLater && rules.minute ? clock.now() + MINUTE_MS : 0;
    for (;;) {
      const [found] = await living(client);
      const own = found ?? (await reserve(client));
      const chosen = inOrder(await settle(machine, own, rules, decidesAt), own, rules);
      const sent = await sendFirst(client, chosen, rules);
      if (sent !== undefined) return { sent: [sent] };
    }
  };
}

/** Sends the first of these envelopes, and cancels the other drafts. Returns undefined if the first was canceled as a draft. */
async function sendFirst(
  client: Client,
  [winner, ...others]: readonly Envelope[],
  { tidies }: Rules,
): Promise<string | undefined> {
  const drafts = others.filter(({ status }) => status === 'DRAFT');
  if (winner === undefined || (winner.status === 'DRAFT' && !(await send(client, winner)))) return undefined;
  if (tidies) await cancelAll(client, drafts);
  return winner.id;
}

/** Returns the listed envelopes that were not canceled as drafts, as they are now. */
async function living(client: Client): Promise<Envelope[]> {
  const { items } = await client.envelopes.page(1);
  const all = await Promise.all(items.map(({ id }) => client.envelopes.get(id)));
  return all.filter((one) => !isVoid(one));
}

async function reserve(client: Client): Promise<Envelope> {
  const signers = [{ email: 'ada@example.com', name: 'Ada' }];
  const body = createBody({ templateId: 'tmpl_1', signers }, 'order-1');
  for (;;) {
    try {
      return await client.envelopes.create(body);
    } catch (error) {
      if (!isAmbiguous(error)) throw error;
    }
  }
}

async function settle(
  { client, clock }: Machine,
  own: Envelope,
  { waits }: Rules,
  decidesAt: number,
): Promise<Envelope[]> {
  for (let pauseMs = 0; ; pauseMs = 1_000) {
    if (pauseMs > 0) await clock.sleep(pauseMs);
    const began = clock.now();
    const { items } = await client.envelopes.page(1);
    if (!items.some(({ id }) => id === own.id)) continue;
    const wait = Math.max(waits ? began + SETTLE_MS : 0, decidesAt) - clock.now();
    if (wait > 0) await clock.sleep(wait);
    return living(client);
  }
}

/** Returns the envelopes in the order in which they are chosen. */
function inOrder(all: readonly Envelope[], own: Envelope, rules: Rules): Envelope[] {
  const rank = (one: Envelope) => [
    rules.sentFirst && one.status !== 'DRAFT' ? 0 : 1,
    !rules.oldest && one.id === own.id ? 0 : 1,
    Date.parse(one.createdAt ?? ''),
    one.id,
  ];
  return all
    .map((one) => ({ one, rank: rank(one) }))
    .sort((a, b) => compare(a.rank, b.rank))
    .map(({ one }) => one);
}

function compare(some: readonly (string | number)[], others: readonly (string | number)[]): number {
  const at = some.findIndex((value, index) => value !== others[index]);
  return at < 0 ? 0 : (some[at] ?? 0) < (others[at] ?? 0) ? -1 : 1;
}

/** Returns false if the envelope was canceled as a draft. */
async function send(client: Client, { id }: Envelope): Promise<boolean> {
  try {
    await client.envelopes.send(id);
    return true;
  } catch (error) {
    if (!isRefusedByState(error) && !isAmbiguous(error)) throw error;
  }
  const now = await client.envelopes.get(id);
  return now.status === 'DRAFT' ? send(client, now) : !isVoid(now);
}

async function cancelAll(client: Client, drafts: readonly Envelope[]): Promise<void> {
  for (const { id } of drafts)
    await client.envelopes.cancel(id).catch((error: unknown) => {
      if (!isRefusedByState(error) && !isAmbiguous(error)) throw error;
    });
}
