import { hash } from 'node:crypto';
import { KeyedQueue } from '../../kernel/async/keyed-queue.ts';
import type { Clock } from '../../kernel/clock.ts';
import { UsageError } from '../../kernel/errors.ts';
import type { SignerInput } from '../signer-mailbox.ts';
import {
  type KnownRequest,
  memoryRecords,
  type RequestRecord,
  type RequestRecords,
  recordsIn,
} from './records.ts';

/*
 * The API has no idempotency key. A create carries a request ID in its metadata, and this module remembers each ID on this
 * machine: what it was used for, whether the service was asked, and the envelope it returned.
 */

export type { KnownRequest } from './records.ts';

/** A request ID that no other process or call can use until it is released. */
export interface LockedRequestId {
  /** The current record. */
  readonly known: KnownRequest;
  /**
   * Records that a request is about to be sent. The record is on disk when this resolves; without it, nothing may be sent.
   * @throws UsageError if it can't be written.
   */
  asked(content: string): Promise<void>;
  /**
   * Records the envelope; `content` is required if another process requested it. The earlier record is enough to find the
   * envelope again, so a full disk is not an error.
   */
  made(envelopeId: string, content?: string): Promise<void>;
  /** Removes the record: the service certainly created nothing. */
  refused(): Promise<void>;
}

/** Options for waiting while another process or call uses the ID. */
export interface RequestIdLockOptions {
  signal?: AbortSignal | undefined;
}

/** The request IDs of one account. */
export interface RequestIds {
  /** Returns the current record, even while another process uses the ID. */
  read(requestId: string): Promise<KnownRequest>;
  /**
   * Runs `work` while no other process on this machine uses the ID, and waits for one that does.
   * @throws UsageError if the ID is empty, another process uses it for minutes, or the state folder can't be written.
   */
  use<T>(
    requestId: string,
    waiting: RequestIdLockOptions,
    work: (request: LockedRequestId) => Promise<T>,
  ): Promise<T>;
}

/** Shared by all clients of the process, because two clients for the same key must not create the same envelope. */
const queue = new KeyedQueue();

/**
 * Opens the request IDs of an account, kept for 30 days in a folder that all processes on this machine share. `serviceNow`
 * returns the service's time in ms.
 */
export function requestIdsIn(
  folder: string,
  account: string,
  time: { clock: Clock; serviceNow: () => number },
): RequestIds {
  return requestIds(recordsIn(folder, account, time.clock), account, time);
}

/** Like `requestIdsIn`, but in memory: shared by all callers in this process until it ends. */
export function requestIdsInMemory(
  account: string,
  time: { clock: Clock; serviceNow: () => number },
): RequestIds {
  return requestIds(memoryRecords(account), account, time);
}

function requestIds(
  records: RequestRecords,
  account: string,
  { clock, serviceNow }: { clock: Clock; serviceNow: () => number },
): RequestIds {
  return {
    read: async (requestId) => records.read(checkRequestId(requestId)),
    async use(requestId, { signal }, work) {
      checkRequestId(requestId);
      const alone = async () => {
        const release = await records.lock(requestId, signal);
        try {
          return await work(await openRequest(requestId, records, () => stamp(clock, serviceNow)));
        } finally {
          await release();
        }
      };
      return queue.run(`${account}\n${requestId}`, alone, signal);
    },
  };
}

function stamp(clock: Clock, serviceNow: () => number) {
  return { at: clock.now(), serviceAt: serviceNow() };
}

async function openRequest(
  requestId: string,
  records: RequestRecords,
  now: () => { at: number; serviceAt: number },
): Promise<LockedRequestId> {
  let known = await records.read(requestId);
  const write = async (record: RequestRecord) => {
    await records.write(requestId, record);
    known = record;
  };
  return {
    get known() {
      return known;
    },
    asked: (content) => write({ state: 'asked', ...now(), content }),
    async made(envelopeId, given) {
      const content = given ?? ('content' in known ? known.content : '');
      await write({ state: 'made', ...now(), content, envelopeId }).catch(() => undefined);
    },
    async refused() {
      await records.remove(requestId);
      known = { state: 'new' };
    },
  };
}

/** @throws UsageError if a request ID is not a non-empty text. */
export function checkRequestId(requestId: unknown): string {
  if (typeof requestId === 'string' && requestId.trim() !== '') return requestId;
  throw new UsageError('The request ID is empty.', {
    hint: 'Use a value that identifies this envelope, such as an order number, or leave the request ID out.',
  });
}

/** The content that a request ID stands for. */
export interface RequestContent {
  templateId: string;
  signers: readonly Readonly<SignerInput>[];
}

/**
 * Returns a hash of the template and the signers (address, name, role, order). The case of an address and the sequence of the
 * signers don't matter.
 */
export function contentOf({ templateId, signers }: RequestContent): string {
  const people = signers.map(({ email, name, role, order }) =>
    JSON.stringify([email.trim().toLowerCase(), name.trim(), role ?? null, order ?? null]),
  );
  return hash('sha256', JSON.stringify([1, templateId, people.sort()])).slice(0, 32);
}

/** Returns true if the ID was used for other content. A damaged record doesn't show its content. */
export function isOtherContent(known: KnownRequest, content: string): boolean {
  return 'content' in known && known.content !== '' && known.content !== content;
}
