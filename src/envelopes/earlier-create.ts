import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/schemas.ts';
import { MAX_LIST_LAG_MS, readIfExists } from '../catalog/envelope-list.ts';
import { findByRequestId, type OnSearchStart, repeatUntilListed } from '../catalog/find-by-request-id.ts';
import { DAY_MS } from '../kernel/duration.ts';
import { EarlierUnknownError } from '../kernel/errors.ts';
import { command } from '../kernel/text/shell-words.ts';
import { hasEnded, isVoid } from '../kernel/vocabulary.ts';
import type { LoggedWrite } from '../log/logged-write.ts';
import type { Intent, IntentEnd } from '../log/records.ts';
import type { WriteMemory } from '../log/write-memory.ts';

interface ResolveOptions {
  memory: WriteMemory;
  ignoresVoid?: boolean;
  signal?: AbortSignal | undefined;
  searching?: OnSearchStart | undefined;
}

/** How long ago a create without a request ID may have been interrupted to be resolved by the same command. */
const INTERRUPTED_MS = DAY_MS;

/**
 * Returns the envelope of an earlier create in the log, after resolving its outcome if that isn't known. Returns undefined if it
 * has none: the log then shows it as absent, and the next look doesn't count it.
 * @throws EarlierUnknownError if it isn't in the list, but that proves nothing, because the service shows no request IDs.
 */
export async function resolveEarlier(
  client: Client,
  write: LoggedWrite,
  { requestId, ...options }: ResolveOptions & { requestId: string },
): Promise<Envelope | undefined> {
  const [id] = write.envelopeIds;
  if (write.state !== 'done' || id === undefined) return resolveOpen(client, write, requestId, options);
  const envelope = await readIfExists(client, id, options.signal);
  if (envelope !== undefined && !(options.ignoresVoid && isVoid(envelope))) return envelope;
  // It belongs to another organization, or to a sandbox that was reset; or it was a draft that emailed nobody.
  await recordAbsent(options.memory, write, client);
  return undefined;
}

/** Records that a create has no envelope, so that it doesn't count anymore. */
export function recordAbsent(memory: WriteMemory, { intent }: LoggedWrite, client: Client): Promise<void> {
  return recordEnd(memory, intent, 'absent', client);
}

/**
 * Resolves a create whose outcome isn't known: waits for the process that sent it, and searches the list until the envelope must
 * have appeared. It doesn't matter whether that process is alive: it never sends after `until`.
 */
async function resolveOpen(
  client: Client,
  write: LoggedWrite,
  requestId: string,
  options: ResolveOptions,
): Promise<Envelope | undefined> {
  const { memory, signal, searching } = options;
  const evidence = { items: 0, marked: 0 };
  const walk = { signal, known: new Set<string>(), evidence };
  const look = async () => {
    const now = await currentState(memory, write.intent);
    if (isResolved(now)) return { envelope: await envelopeOf(client, now, signal) };
    const found = await findByRequestId(client, requestId, walk);
    return found && { envelope: await recordFound(memory, write.intent, found, client) };
  };
  const outcome = await repeatUntilListed(client, look, {
    msLeft: () => msUntilCertain(write, client),
    searching,
    signal,
  });
  if (outcome !== undefined) return outcome.envelope;
  if (evidence.items > 0 && evidence.marked === 0) throw notProven(requestId);
  await recordAbsent(memory, write, client);
  return undefined;
}

function isResolved(write: LoggedWrite | undefined): write is LoggedWrite {
  return write !== undefined && write.state !== 'open' && write.state !== 'unknown';
}

/** Returns the envelope of a write that its own process has completed in the meantime, if it has one. */
async function envelopeOf(
  client: Client,
  { state, envelopeIds: [id] }: LoggedWrite,
  signal: AbortSignal | undefined,
): Promise<Envelope | undefined> {
  return state === 'done' && id !== undefined ? readIfExists(client, id, signal) : undefined;
}

async function recordFound(
  memory: WriteMemory,
  intent: Intent,
  found: Envelope,
  client: Client,
): Promise<Envelope> {
  await recordEnd(memory, intent, 'done', client, [found.id]);
  return found;
}

/**
 * Returns the ms until the envelope of a write must be in the list: one minute after its response was lost, or after the last time
 * at which its request can have been open. The clock (this machine's or the service's) that shows less elapsed time counts, and a
 * time in the future counts as now, because a clock was changed.
 */
export function msUntilCertain({ state, intent, at, serviceAt }: LoggedWrite, client: Client): number {
  const open = state === 'unknown' ? 0 : Date.parse(intent.until) - Date.parse(intent.at);
  const elapsed = Math.min(
    client.clock.now() - Date.parse(at),
    client.serviceClock.now() - Date.parse(serviceAt),
  );
  return Math.max(0, open + MAX_LIST_LAG_MS - Math.max(0, elapsed));
}

async function currentState(memory: WriteMemory, { id, key = '' }: Intent): Promise<LoggedWrite | undefined> {
  const writes = await memory.find([key]);
  return writes.find((one) => one.intent.id === id);
}

async function recordEnd(
  memory: WriteMemory,
  { id, key }: Intent,
  type: IntentEnd['type'],
  { clock, serviceClock }: Client,
  envelopeIds?: string[],
): Promise<void> {
  const at = new Date(clock.now()).toISOString();
  const serviceAt = new Date(serviceClock.now()).toISOString();
  await memory.append([{ type, id, at, serviceAt, key, ...(envelopeIds ? { envelopeIds } : {}) }]);
}

function notProven(requestId: string): EarlierUnknownError {
  return new EarlierUnknownError(
    `An earlier request with the request ID ${requestId} may have created an envelope. The service shows no request IDs, so esign can't find out, and created nothing now.`,
    {
      hint: `Look for it with \`${command('envelopes', 'list')}\`. If it doesn't exist, use a different request ID.`,
    },
  );
}

/**
 * Returns the envelope of a create with the same content whose outcome isn't known: its process was killed, or lost the response.
 * Pressing Up and Enter must not email twice. Returns undefined without such a create, or if it created nothing. `writes` contains
 * those that the memory found by this body; their outcomes are read again.
 */
export async function findInterrupted(
  client: Client,
  body: string,
  writes: readonly LoggedWrite[],
  options: ResolveOptions,
): Promise<Envelope | undefined> {
  const now = client.clock.now();
  const recent = writes.filter(
    ({ intent }) => intent.body === body && Math.abs(now - Date.parse(intent.at)) < INTERRUPTED_MS,
  );
  const current = await options.memory.find(recent.flatMap(({ intent }) => intent.key ?? []));
  for (const write of current.toReversed()) {
    const requestId = write.intent.requestId ?? '';
    if (requestId === '' || (write.state !== 'open' && write.state !== 'unknown')) continue;
    const envelope = await resolveEarlier(client, write, { requestId, ...options });
    // Nobody can sign one that was canceled, declined, or expired since, so another one may be created.
    if (envelope !== undefined && !hasEnded(envelope)) return envelope;
  }
  return undefined;
}
