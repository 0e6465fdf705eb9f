import { hash } from 'node:crypto';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { Client } from '../../api/client.ts';
import { notRecorded } from '../../journal/failures.ts';
import { readLine, writeLine } from '../../journal/line.ts';
import { KeyedQueue } from '../../kernel/async/keyed-queue.ts';
import { dropOldest } from '../../kernel/bounded.ts';
import type { Clock } from '../../kernel/clock.ts';
import { DAY_MS } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import { diskReason } from '../../kernel/files/disk-reason.ts';
import { privateFolder, syncFolder, writeFileAtomic } from '../../kernel/files/files.ts';
import { isLocked, lockFile } from '../../kernel/files/lock.ts';
import { readRegularBytes } from '../../kernel/files/regular-file.ts';

/*
 * The API has no idempotency key. A create carries a request ID in its metadata, and this module remembers each ID on this
 * machine: what it was used for, whether the service was asked, and the envelope it returned.
 */

const facts = {
  /** When it was recorded: ms since the epoch by this machine's clock, and by the service's. */
  at: z.number(),
  serviceAt: z.number(),
  /** A hash of what the ID is used for. */
  content: z.string(),
};
const recordSchema = z.discriminatedUnion('state', [
  /**
   * Written before the request, and again if its response was lost (`isLost`). Without that, the request may have been sent later
   * than recorded, for example after a wait for the rate limit, by a process that was then killed.
   */
  z.object({ state: z.literal('asked'), ...facts, isLost: z.optional(z.boolean()) }),
  z.object({ state: z.literal('made'), ...facts, envelopeId: z.string().check(z.minLength(1)) }),
]);
const fileSchema = z.object({ version: z.literal(1), requestId: z.string(), record: recordSchema });

type RequestRecord = z.infer<typeof recordSchema>;

/** The record of a request ID. `damaged`: it can't be parsed; `at` is when it was last written. */
export type KnownRequest =
  | { state: 'new' }
  | RequestRecord
  | { state: 'damaged'; at: number; serviceAt: number; path: string };

interface RequestRecords {
  read(requestId: string): Promise<KnownRequest>;
  /** The record is on disk when this resolves. */
  write(requestId: string, record: RequestRecord): Promise<void>;
  remove(requestId: string): Promise<void>;
  /** Waits until no other process uses the ID; returns the release. */
  lock(requestId: string, signal: AbortSignal | undefined): Promise<() => Promise<void>>;
}

/** A request ID that no other process or call can use until it is released. */
export interface LockedRequestId {
  /** The current record. */
  readonly known: KnownRequest;
  /**
   * Records that a request is about to be sent. The record is on disk when this resolves; without it, nothing may be sent.
   * @throws UsageError if it can't be written.
   */
  asked(content: string): Promise<void>;
  /** Records that the response was lost just now. The earlier record is enough to search again, so a full disk is not an error. */
  lost(): Promise<void>;
  /**
   * Records the envelope; `content` is required if another process requested it. The earlier record is enough to find the
   * envelope again, so a full disk is not an error.
   */
  made(envelopeId: string, content?: string): Promise<void>;
  /** Removes the record: the service certainly created nothing. */
  refused(): Promise<void>;
  /** Lets others use the ID. */
  release(): Promise<void>;
}

export interface RequestIds {
  /** Returns the current record, even while another process uses the ID. */
  read(requestId: string): Promise<KnownRequest>;
  /**
   * Waits until no other process or call on this machine uses the ID. The caller releases it.
   * @throws UsageError if the ID is empty, another process uses it for minutes, or the state folder can't be written.
   */
  lock(requestId: string, signal?: AbortSignal): Promise<LockedRequestId>;
}

/** Shared by all clients of the process, because two clients for the same key must not create the same envelope. */
const queue = new KeyedQueue();

/** The account that request IDs belong to, and its clocks. */
type IdClient = Pick<Client, 'account' | 'clock'> & { serviceClock: Pick<Client['serviceClock'], 'now'> };

/** Opens the request IDs of a client's account, kept for 30 days in a folder that all processes on this machine share. */
export function requestIdsIn(folder: string, client: IdClient): RequestIds {
  return requestIds(recordsIn(folder, client.account, client.clock), client);
}

/** Like `requestIdsIn`, but in memory: shared by all callers in this process until it ends. */
export function requestIdsInMemory(client: IdClient): RequestIds {
  return requestIds(memoryRecords(client.account), client);
}

function requestIds(records: RequestRecords, { account, clock, serviceClock }: IdClient): RequestIds {
  const now = () => ({ at: clock.now(), serviceAt: serviceClock.now() });
  return {
    read: async (requestId) => records.read(checkRequestId(requestId)),
    async lock(requestId, signal) {
      const endTurn = await takeTurn(`${account}\n${checkRequestId(requestId)}`, signal);
      let unlock: (() => Promise<void>) | undefined;
      const release = async () => {
        try {
          await unlock?.();
        } finally {
          endTurn();
        }
      };
      try {
        unlock = await records.lock(requestId, signal);
        return lockedRequest(requestId, await records.read(requestId), records, { now, release });
      } catch (error) {
        await release();
        throw error;
      }
    },
  };
}

/** Waits for the other calls of this process that use the key. Returns the function that ends the turn. */
function takeTurn(key: string, signal: AbortSignal | undefined): Promise<() => void> {
  return new Promise((begin, reject) => {
    const untilEnded = () => new Promise<void>((end) => begin(end));
    queue.run(key, untilEnded, signal).catch(reject);
  });
}

function lockedRequest(
  requestId: string,
  first: KnownRequest,
  records: RequestRecords,
  { now, release }: { now: () => { at: number; serviceAt: number }; release: () => Promise<void> },
): LockedRequestId {
  let known = first;
  const write = async (record: RequestRecord) => {
    await records.write(requestId, record);
    known = record;
  };
  const knownContent = () => ('content' in known ? known.content : '');
  return {
    get known() {
      return known;
    },
    asked: (content) => write({ state: 'asked', ...now(), content }),
    lost: () =>
      write({ state: 'asked', ...now(), content: knownContent(), isLost: true }).catch(() => undefined),
    made: (envelopeId, content = knownContent()) =>
      write({ state: 'made', ...now(), content, envelopeId }).catch(() => undefined),
    async refused() {
      await records.remove(requestId);
      known = { state: 'new' };
    },
    release,
  };
}

/** @throws UsageError if a request ID is not a non-empty text. */
export function checkRequestId(requestId: unknown): string {
  if (typeof requestId === 'string' && requestId.trim() !== '') return requestId;
  throw new UsageError('The request ID is empty.', {
    hint: 'Use a value that identifies this envelope, such as an order number, or leave the request ID out.',
  });
}

const RETENTION_MS = 30 * DAY_MS;
/** How long to wait for another process, in ms. After a lost response, it searches the list for a minute. */
const LOCK_TIMEOUT_MS = 3 * 60_000;

/** One small file per request ID. It is replaced as a whole, so a crash or a full disk leaves the previous record. */
function recordsIn(stateFolder: string, account: string, clock: Clock): RequestRecords {
  const folder = join(stateFolder, 'requests', account);
  const pathOf = (requestId: string) => join(folder, `${hash('sha256', requestId).slice(0, 32)}.json`);
  return {
    read: (requestId) => readRecord(pathOf(requestId), requestId),
    async write(requestId, record) {
      const line = writeLine({ version: 1, requestId, record });
      await writeFileAtomic(pathOf(requestId), line).catch((error: unknown) => {
        throw notRecorded(`The request ID can't be recorded in ${folder}`, error);
      });
    },
    async remove(requestId) {
      await rm(pathOf(requestId), { force: true });
      await syncFolder(folder);
    },
    async lock(requestId, signal) {
      const busy = (pid: string) =>
        new UsageError(`Another esign process (${pid}) is using request ID ${requestId}.`, {
          hint: 'Run the command again when it has finished.',
        });
      try {
        await privateFolder(folder);
        await removeOld(folder, clock.now());
        return await lockFile(`${pathOf(requestId)}.lock`, busy, { waitMs: LOCK_TIMEOUT_MS, clock, signal });
      } catch (error) {
        if (error instanceof UsageError || signal?.aborted) throw error;
        throw notRecorded(`The request ID can't be recorded in ${folder}`, error);
      }
    },
  };
}

async function readRecord(path: string, requestId: string): Promise<KnownRequest> {
  const bytes = await readRegularBytes(path).catch((error: unknown) => {
    throw new UsageError(`The record for request ID ${requestId} can't be read: ${diskReason(error)}.`, {
      cause: error,
      hint: `Make ${path} readable.`,
    });
  });
  if (bytes === undefined) return { state: 'new' };
  const file = fileSchema.safeParse(readLine(bytes.subarray(0, -1)));
  if (file.success && file.data.requestId === requestId) return file.data.record;
  const { mtimeMs } = await stat(path);
  return { state: 'damaged', at: mtimeMs, serviceAt: mtimeMs, path };
}

/** Removes records older than 30 days, at most once a day. Failures are ignored until the next time. */
async function removeOld(folder: string, now: number): Promise<void> {
  const marker = join(folder, '.cleaned');
  try {
    const cleaned = await stat(marker).catch(() => undefined);
    if (cleaned !== undefined && now - cleaned.mtimeMs < DAY_MS) return;
    await writeFile(marker, '', { mode: 0o600 });
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      const file = await stat(path).catch(() => undefined);
      if (file === undefined || now - file.mtimeMs < RETENTION_MS) continue;
      if (!(await isLocked(name.endsWith('.json') ? `${path}.lock` : path))) await rm(path, { force: true });
    }
  } catch {
    // Cleaning up must not stop a create.
  }
}

/** The records that are kept in memory, by account and ID, oldest first. */
const remembered = new Map<string, RequestRecord>();
/** Limits the memory of a server. The service's list shows an envelope long before this many others are created. */
const MAX_REMEMBERED = 100_000;

/** Records that are kept in this process only. Calls take turns, so there is nothing to lock. */
function memoryRecords(account: string): RequestRecords {
  const keyOf = (requestId: string) => `${account}\n${requestId}`;
  return {
    read: async (requestId) => remembered.get(keyOf(requestId)) ?? { state: 'new' },
    async write(requestId, record) {
      remembered.delete(keyOf(requestId));
      remembered.set(keyOf(requestId), record);
      dropOldest(remembered, MAX_REMEMBERED);
    },
    async remove(requestId) {
      remembered.delete(keyOf(requestId));
    },
    lock: async () => async () => undefined,
  };
}
