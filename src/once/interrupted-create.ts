import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/resource-types.ts';
import { MAX_LIST_LAG_MS, readIfExists } from '../catalog/envelope-list.ts';
import { findByRequestId, type OnSearchStart, repeatUntilListed } from '../catalog/find-by-request-id.ts';
import { DAY_MS } from '../kernel/duration.ts';
import { hasEnded } from '../kernel/statuses.ts';
import { type LoggedWrite, latestTimeBefore } from '../log/logged-write.ts';
import type { Intent, IntentEnd } from '../log/stored-records.ts';
import type { WriteMemory } from '../log/write-memory.ts';
import { unprovenError } from './refusals.ts';

interface ResolveOptions {
  memory: WriteMemory;
  signal?: AbortSignal | undefined;
  searching?: OnSearchStart | undefined;
}

/** How long ago a create without a request ID may have been interrupted to be resolved by the same command. */
const INTERRUPTED_MS = DAY_MS;

/**
 * Returns the envelope of a create with the same body at the same account whose outcome isn't known: its process was killed, or lost the
 * response. Pressing Up and Enter must not email twice. Returns undefined without such a create, or if it created nothing.
 * @throws EarlierUnknownError if it isn't in the list, but that proves nothing, because the service shows no request IDs.
 */
export async function findInterrupted(
  client: Client,
  body: string,
  options: ResolveOptions,
): Promise<Envelope | undefined> {
  const now = client.clock.now();
  // The age of one that is only dated in the future, by a clock that was wrong, isn't known.
  const ageOf = ({ at, serviceAt }: Intent) => now - (latestTimeBefore([at, serviceAt], now) ?? now);
  const writes = await options.memory.find([body]);
  const recent = writes.filter(
    ({ intent }) =>
      intent.body === body && intent.account === client.account && ageOf(intent) < INTERRUPTED_MS,
  );
  // The outcomes are only found by the keys.
  const current = await options.memory.find(recent.flatMap(({ intent }) => intent.key ?? []));
  for (const write of current.toReversed()) {
    if (isResolved(write)) continue;
    const envelope = await resolveOpen(client, write, options);
    // Nobody can sign one that was canceled, declined, or expired since, so another one may be created.
    if (envelope !== undefined && !hasEnded(envelope)) return envelope;
  }
  return undefined;
}

function isResolved(write: LoggedWrite): boolean {
  return write.state !== 'open' && write.state !== 'unknown';
}

/**
 * Waits for the process that sent the create, and searches the list until the envelope must have appeared. It doesn't matter whether
 * that process is alive: it never sends after `until`. The log then shows the outcome.
 */
async function resolveOpen(
  client: Client,
  { intent, ...write }: LoggedWrite,
  { memory, signal, searching }: ResolveOptions,
): Promise<Envelope | undefined> {
  const requestId = intent.requestId ?? '';
  const evidence = { items: 0, marked: 0 };
  const walk = { signal, known: new Set<string>(), evidence };
  const record = (type: IntentEnd['type'], envelopeIds?: string[]) =>
    recordEnd(memory, intent, { type, envelopeIds }, client);
  const current = async () =>
    (await memory.find([intent.key ?? ''])).find((one) => one.intent.id === intent.id);
  const look = async () => {
    const now = await current();
    if (now !== undefined && isResolved(now)) return { envelope: await envelopeOf(client, now, signal) };
    const found = await findByRequestId(client, requestId, walk);
    if (found === undefined) return undefined;
    await record('done', [found.id]);
    return { envelope: found };
  };
  const msLeft = () => msUntilListed({ intent, ...write }, client);
  const outcome = await repeatUntilListed(client, look, { msLeft, searching, signal });
  if (outcome !== undefined) return outcome.envelope;
  if (evidence.items > 0 && evidence.marked === 0) throw unprovenError(requestId);
  const now = await current();
  // Its process is alive, and sent it once more in the meantime.
  if (now !== undefined && now.intent.at !== intent.at)
    return resolveOpen(client, now, { memory, signal, searching });
  await record('absent');
  return undefined;
}

/** Returns the envelope of a write that its own process has completed in the meantime, if it has one. */
async function envelopeOf(
  client: Client,
  { state, envelopeIds: [id] }: LoggedWrite,
  signal: AbortSignal | undefined,
): Promise<Envelope | undefined> {
  return state === 'done' && id !== undefined ? readIfExists(client, id, signal) : undefined;
}

/**
 * Returns the ms until the envelope of a write must be in the list: one minute after the last time at which its request can have taken
 * effect. The clock (this machine's or the service's) that shows less elapsed time counts, and a time in the future counts as now,
 * because a clock was changed.
 */
function msUntilListed({ intent, at, serviceAt }: LoggedWrite, client: Client): number {
  const open = Date.parse(intent.until) - Date.parse(intent.at);
  const elapsed = Math.min(
    client.clock.now() - Date.parse(at),
    client.serviceClock.now() - Date.parse(serviceAt),
  );
  return Math.max(0, open + MAX_LIST_LAG_MS - Math.max(0, elapsed));
}

async function recordEnd(
  memory: WriteMemory,
  { id, key }: Intent,
  { type, envelopeIds }: { type: IntentEnd['type']; envelopeIds: string[] | undefined },
  { clock, serviceClock }: Client,
): Promise<void> {
  const at = new Date(clock.now()).toISOString();
  const serviceAt = new Date(serviceClock.now()).toISOString();
  await memory.append([{ type, id, at, serviceAt, key, ...(envelopeIds ? { envelopeIds } : {}) }]);
}
