import type { Client } from '../api/client.ts';
import type { Once } from '../api/once.ts';
import type { Envelope, Signer } from '../api/schemas.ts';
import { durationInWords } from '../kernel/duration.ts';
import { RemindedRecentlyError, StoppedError, SupersededError } from '../kernel/errors.ts';
import { addressOf } from '../kernel/text/person.ts';
import { isPending } from '../kernel/vocabulary.ts';
import { remindKey } from '../log/keys.ts';
import type { WriteMemory } from '../log/write-memory.ts';
import { signersNamed, whoseTurn } from './named-signer.ts';
import { ReminderTimes } from './reminder-times.ts';
import { type ActionResult, readQuietly, remindEnvelope } from './write-outcome.ts';

export interface ActionReport extends ActionResult {
  /** The signers whom it concerned; for a reminder, those who were emailed. */
  signers: readonly Signer[];
}

interface Reminder {
  id: string;
  /** IDs or addresses; undefined for all whose turn it is. */
  signers?: readonly string[] | undefined;
  gapMs: number;
}

/**
 * Reminds the pending signers who were not reminded within the gap (ms), as far as the log of this machine shows; with `signers`,
 * only those. A reminder whose outcome isn't known counts as sent.
 * @throws RemindedRecentlyError if all of them were, also if another process was first.
 */
export async function remindWithGap(
  client: Client,
  memory: WriteMemory,
  reminder: Reminder,
  signal?: AbortSignal,
): Promise<ActionReport> {
  const { id, signers, gapMs } = reminder;
  if (signers === undefined && gapMs <= 0) {
    // The log dates reminders by the service's clock, which only a reply shows.
    await readQuietly(client, id, signal);
    const acted = await remindEnvelope(client, id, undefined, { signal, once: onceFor(client, id, gapMs) });
    return { ...acted, signers: whoseTurn(acted.envelope) };
  }
  const envelope = await client.envelopes.get(id, signal);
  const writes = await memory.find(keysOf(client, id, envelope.signers ?? []));
  const times = new ReminderTimes(writes);
  const now = client.serviceClock.now();
  const { due, skip, hasRecent } = findDue(times, envelope, reminder, now);
  if (skip !== undefined) throw skip;
  try {
    // Without a signer, the service may remind every pending signer, whoever's turn it is (API document, Remind).
    const isForAll = signers === undefined && !hasRecent;
    const acted = isForAll
      ? await remindEnvelope(client, id, undefined, {
          signal,
          once: onceFor(client, id, gapMs, envelope.signers),
        })
      : await remindEach(client, envelope, due, gapMs, signal);
    return { signers: due, ...acted };
  } catch (error) {
    if (!(error instanceof SupersededError)) throw error;
    throw recently(times, id, due, gapMs, now);
  }
}

async function remindEach(
  client: Client,
  envelope: Envelope,
  due: readonly Signer[],
  gapMs: number,
  signal: AbortSignal | undefined,
): Promise<ActionReport> {
  const { id } = envelope;
  let acted: ActionResult = { envelope, by: 'reply' };
  const signers: Signer[] = [];
  let superseded: Error | undefined;
  for (const [index, one] of due.entries()) {
    if (index > 0 && signal?.aborted) throw stoppedBefore(id, due, index);
    const once = onceFor(client, id, gapMs, [], idOf(one));
    try {
      acted = await remindEnvelope(client, id, idOf(one), { signal, once });
      signers.push(one);
    } catch (error) {
      // Another process reminded this signer; the others are still due.
      if (!(error instanceof SupersededError)) throw error;
      superseded = error;
    }
  }
  if (superseded !== undefined && signers.length === 0) throw superseded;
  return { ...acted, signers };
}

/**
 * Returns the signers to remind who were not reminded within the gap. `skip`: the reason if all of them were. `hasRecent`: a pending
 * signer was reminded within the gap.
 */
export function findDue(
  times: ReminderTimes,
  envelope: Envelope,
  { id, signers, gapMs }: Reminder,
  now: number,
): { due: Signer[]; skip: RemindedRecentlyError | undefined; hasRecent: boolean } {
  const named = signers?.flatMap((one) => signersNamed(envelope, one));
  // An ID and an address may name the same signer.
  const pending = named === undefined ? whoseTurn(envelope) : [...new Set(named)];
  const tooSoon = (one: Signer) => {
    const last = times.lastOf(id, idOf(one));
    return gapMs > 0 && last !== undefined && now - last.at < gapMs;
  };
  const due = pending.filter((one) => !tooSoon(one));
  const isSkipped = pending.length > 0 && due.length === 0;
  return {
    due,
    skip: isSkipped ? recently(times, id, pending, gapMs, now) : undefined,
    hasRecent: (envelope.signers ?? []).some((one) => isPending(one) && tooSoon(one)),
  };
}

/** Returns what a reminder may do only once. A reminder to all signers counts for each of them, and the other way around. */
function onceFor(
  client: Client,
  envelopeId: string,
  gapMs: number,
  others: readonly Signer[] | null | undefined = [],
  signerId?: string,
): Once {
  const serviceAt = client.serviceClock.now();
  return {
    key: remindKey(client.baseUrl, envelopeId, signerId),
    otherKeys: keysOf(client, envelopeId, others ?? []),
    since: gapMs > 0 ? serviceAt - gapMs : Number.POSITIVE_INFINITY,
    serviceAt,
  };
}

/** Returns the keys of reminders to all signers together, and to each of these. */
function keysOf({ baseUrl }: Client, envelopeId: string, signers: readonly Signer[]): string[] {
  return [undefined, ...signers.map(idOf)].map((signerId) => remindKey(baseUrl, envelopeId, signerId));
}

/** Services without signer IDs may accept an address. */
function idOf({ id, email }: Signer): string {
  return id ?? email ?? '';
}

function stoppedBefore(id: string, due: readonly Signer[], index: number): StoppedError {
  const names = (signers: readonly Signer[]) => signers.map(addressOf).join(', ');
  return new StoppedError(
    'INTERRUPTED',
    `Stopped. For ${id}, a reminder was sent to ${names(due.slice(0, index))}, but not to ${names(due.slice(index))}.`,
  );
}

function recently(
  times: ReminderTimes,
  id: string,
  pending: readonly Signer[],
  gapMs: number,
  now: number,
): RemindedRecentlyError {
  const last = pending.map((one) => {
    const at = times.lastOf(id, idOf(one))?.at ?? now;
    return `${addressOf(one)} (${durationInWords(Math.max(0, now - at))} ago)`;
  });
  return new RemindedRecentlyError(
    `Already reminded within the last ${durationInWords(gapMs)} for ${id}: ${last.join(', ')}.`,
    { hint: 'Nothing was sent. To send another reminder, use a shorter --min-gap.' },
  );
}
