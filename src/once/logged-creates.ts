import type { Client } from '../api/client.ts';
import { MAX_LIST_LAG_MS } from '../catalog/envelope-list.ts';
import { type LoggedWrite, mayHaveCreated } from '../log/logged-write.ts';
import { createKey } from '../log/write-keys.ts';
import type { WriteMemory } from '../log/write-memory.ts';

/** What the log on this machine shows of earlier creates. It is only a memory: each envelope is confirmed by reading it. */
export interface LoggedCreates {
  /** The envelopes that were created with each request ID, oldest first. */
  envelopeIds: ReadonlyMap<string, readonly string[]>;
  /** When the list must show what was created by those without an outcome, in ms by this machine's clock; 0 if all have one. */
  listedAt: number;
  /** When the list must show each of the envelopes (ms, this machine's clock). */
  listedAtById: ReadonlyMap<string, number>;
}

/** Another process on this machine is usually answered within this time, in ms. */
const RESPONSE_MS = 3_000;
const POLL_MS = 1_000;

/**
 * Reads what this machine did under request IDs, for the same account. Waits a moment for a process that is creating one of them right
 * now, because the log then shows its envelope.
 */
export async function readLoggedCreates(
  client: Client,
  memory: WriteMemory,
  requestIds: readonly string[],
  signal?: AbortSignal,
): Promise<LoggedCreates> {
  const idsByKey = new Map(requestIds.map((id) => [createKey(client.baseUrl, id), id]));
  let writes = await findCreates(client, memory, [...idsByKey.keys()]);
  const now = client.clock.now();
  const isRunning = ({ state, intent }: LoggedWrite) =>
    state === 'open' && now - Date.parse(intent.at) < RESPONSE_MS;
  for (let waited = 0; waited < RESPONSE_MS && writes.some(isRunning); waited += POLL_MS) {
    await client.clock.sleep(POLL_MS, signal);
    writes = await findCreates(client, memory, [...idsByKey.keys()]);
  }
  const envelopeIds = new Map<string, string[]>();
  const listedAtById = new Map<string, number>();
  let listedAt = 0;
  for (const write of writes) {
    const requestId = idsByKey.get(write.intent.key ?? '') ?? '';
    const [id] = write.envelopeIds;
    // Without an outcome, one that emails its signers may take effect until its request has timed out. A late draft emails nobody.
    const open = write.intent.effect === 'mails' && write.state !== 'done' ? openMs(write) : 0;
    // A time in the future is that of a clock that was set back since.
    const until = Math.min(Date.parse(write.at), now) + open + MAX_LIST_LAG_MS;
    if (write.state === 'done' && id !== undefined) {
      envelopeIds.set(requestId, [...(envelopeIds.get(requestId) ?? []), id]);
      listedAtById.set(id, until);
    } else listedAt = Math.max(listedAt, until);
  }
  return { envelopeIds, listedAt, listedAtById };
}

/** Returns the creates with these keys that may have created an envelope for the client's account, in the order of the log. */
export async function findCreates(
  client: Client,
  memory: WriteMemory,
  keys: readonly string[],
): Promise<LoggedWrite[]> {
  const writes = await memory.find(keys);
  return writes.filter((write) => mayHaveCreated(write) && write.intent.account === client.account);
}

/** Returns the envelopes that this machine created with a request ID, oldest first. The key may have been another one. */
export async function loggedEnvelopes(
  client: Client,
  memory: WriteMemory,
  requestId: string,
): Promise<string[]> {
  const writes = await memory.find([createKey(client.baseUrl, requestId)]);
  return writes.flatMap(({ state, envelopeIds }) => (state === 'done' ? envelopeIds : []));
}

function openMs({ intent }: LoggedWrite): number {
  return Date.parse(intent.until) - Date.parse(intent.at);
}
