import { randomBytes } from 'node:crypto';
import type { WriteHooks } from '../api/http.ts';
import type { RunEnd } from '../api/write-gate.ts';
import type { WriteIdentity } from '../api/write-identity.ts';
import type { Clock } from '../kernel/clock.ts';
import { EsignError, SupersededError } from '../kernel/errors.ts';
import { isAmbiguous } from '../kernel/request-failures.ts';
import { claimFirstIntent } from './claim.ts';
import { type LoggedWrite, mayHaveCreated, mayHaveReminded } from './logged-write.ts';
import type { Intent, IntentEnd } from './stored-records.ts';
import { createKey, remindKey } from './write-keys.ts';
import type { WriteMemory } from './write-memory.ts';

export interface RecorderOptions {
  memory: WriteMemory;
  /** The facts about this process that each entry contains. */
  facts: Pick<Intent, 'user' | 'profile' | 'baseUrl' | 'command'>;
  /** The account that the writes are for (`accountOf`). */
  account: string;
  clock: Pick<Clock, 'now'>;
  /** Returns the service's time, in ms. */
  serviceNow: () => number;
  /** The time limit of a request, in ms. */
  timeoutMs: number;
  /** Called when a write was sent but its entry could not be completed. */
  onIncomplete: (error: Error) => void;
  /** Removes secrets from what a user wrote. */
  redact?: (text: string) => string;
}

/** The facts about a write before it is sent. */
export interface LoggedWriteFacts {
  action: Intent['action'];
  effect: Intent['effect'];
  envelopeIds: readonly string[];
  requestId: string | undefined;
  /** The signer to remind. */
  signerId?: string | undefined;
  /** Why an envelope is canceled. */
  reason?: string | undefined;
  once?: WriteIdentity | undefined;
  content?: string | undefined;
}

/** Enough for a slow disk, however short the time limit of a request is, in ms. */
const MIN_START_MS = 5_000;
/** A longer ID is not stored in the log. */
const MAX_ID_LENGTH = 500;
const MAX_REASON_LENGTH = 500;
const ADDRESS = /[^\s<>()[\]"',;:]+@[^\s<>()[\]"',;:]+/g;
/** The form of the service's codes. Anything else is not stored in the log. */
const CODE = /^[A-Z][A-Z0-9_]{0,63}$/;

/** Records each write before every attempt to send it, and again when its outcome is known. */
export class LogRecorder {
  readonly #options: RecorderOptions;
  /** The longest time from an intent to its request, in ms. */
  readonly #startMs: number;
  /** Writes whose response was lost, by request ID or envelope ID. */
  readonly #incomplete = new Map<string, Intent>();

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#startMs = Math.max(options.timeoutMs, MIN_START_MS);
  }

  /** Records a write that a guard refused. If the log can't be written, the refusal is still reported. */
  async refused(write: LoggedWriteFacts, code: string): Promise<void> {
    const intent = this.#intent(newWriteId(), { ...write, once: undefined });
    await this.#options.memory
      .append([intent, this.#end(intent, 'refused', { error: code })])
      .catch(() => undefined);
  }

  /**
   * Sends a write between the records of its entry. `send` calls the hooks (HttpRequest). `idIn` returns the ID of the envelope in
   * the result. A create without one is recorded as unknown: it may have created an envelope, which has to be found.
   * @throws JournalError before anything is sent, if it can't be recorded.
   * @throws SupersededError if an earlier write has the same key. Nothing was sent then.
   */
  async record<T>(
    write: LoggedWriteFacts,
    send: (hooks: WriteHooks) => Promise<T>,
    idIn: (result: T) => string | undefined,
  ): Promise<T> {
    const id = write.once?.id ?? newWriteId();
    let intent: Intent | undefined;
    let isSent = false;
    const hooks: WriteHooks = {
      beforeAttempt: async () => {
        intent = await this.#begin(id, write);
      },
      onSend: () => {
        isSent = true;
      },
      onNothingDone: () => {
        isSent = false;
      },
    };
    try {
      const result = await send(hooks);
      if (intent !== undefined) await this.#answered(intent, write, idIn(result));
      return result;
    } catch (error) {
      if (intent !== undefined && !(error instanceof SupersededError))
        await this.#failed(intent, write, error, isSent);
      throw error;
    }
  }

  /** Records that a write with a lost response was done. `key`: its request ID or envelope ID. */
  async resolve(key: string, envelopeId: string): Promise<void> {
    const intent = this.#incomplete.get(key);
    if (intent === undefined) return;
    this.#incomplete.delete(key);
    await this.#complete(this.#end(intent, 'done', { envelopeIds: knownIds([envelopeId]) }));
  }

  /** Begins the entry shared by all writes of a bulk run. Returns a function that completes it. */
  async beginRun(run: string, sends: boolean): Promise<(end: RunEnd) => Promise<void>> {
    const effect = sends ? 'mails' : 'writes';
    const facts: LoggedWriteFacts = { action: 'create', effect, envelopeIds: [], requestId: undefined };
    const intent: Intent = { ...this.#intent(newWriteId(), facts), run };
    await this.#options.memory.append([intent]);
    return ({ outcome, error, counts }) =>
      this.#complete(this.#end(intent, outcome, { error: codeOf(error), counts }));
  }

  /** Appends the intent of an attempt. An attempt begins at most `#startMs` after its `at`, so a slower disk means another try. */
  async #begin(id: string, write: LoggedWriteFacts): Promise<Intent> {
    const { memory, clock } = this.#options;
    const { once } = write;
    for (;;) {
      const intent = this.#intent(id, write);
      if (once === undefined) await memory.append([intent]);
      else {
        const earlier = await claimFirstIntent(
          memory,
          { ...intent, key: once.key },
          countsFor(once, this.#options.serviceNow()),
          once.otherKeys,
        );
        if (earlier !== undefined) throw new SupersededError('The same write is already in the log.');
      }
      if (clock.now() < Date.parse(intent.at) + this.#startMs) return intent;
    }
  }

  async #answered(intent: Intent, write: LoggedWriteFacts, id: string | undefined): Promise<void> {
    const envelopeIds = intent.envelopeIds.length > 0 ? intent.envelopeIds : knownIds([id ?? '']);
    if (write.action === 'create' && envelopeIds.length === 0)
      return this.#lost(intent, write, 'BAD_RESPONSE');
    await this.#complete(this.#end(intent, 'done', { envelopeIds }));
  }

  /** Records that the outcome is unknown, until `resolve` is called. */
  async #lost(intent: Intent, { requestId }: LoggedWriteFacts, error: string | null): Promise<void> {
    this.#incomplete.set(requestId ?? intent.envelopeIds[0] ?? intent.id, intent);
    await this.#complete(this.#end(intent, 'unknown', { error }));
  }

  async #failed(intent: Intent, write: LoggedWriteFacts, error: unknown, isSent: boolean): Promise<void> {
    const isRefused = !isSent || (error instanceof EsignError && !isAmbiguous(error));
    const code = codeOf(error instanceof EsignError ? error.code : 'INTERRUPTED');
    if (isRefused) await this.#complete(this.#end(intent, 'refused', { error: code }));
    else await this.#lost(intent, write, code);
  }

  /** Returns a reason without secrets and email addresses, which the log doesn't contain. */
  #storedReason(reason: string): string {
    const { redact = String } = this.#options;
    return redact(reason).replaceAll(ADDRESS, '[address]').slice(0, MAX_REASON_LENGTH);
  }

  #intent(
    id: string,
    { action, effect, envelopeIds, requestId, signerId, reason, once, content }: LoggedWriteFacts,
  ): Intent {
    const now = this.#options.clock.now();
    return {
      type: 'intent',
      id,
      at: new Date(now).toISOString(),
      // The request ends one time limit after it began.
      until: new Date(now + this.#startMs + this.#options.timeoutMs).toISOString(),
      serviceAt: new Date(once?.serviceAt ?? this.#options.serviceNow()).toISOString(),
      ...this.#keyOf({ action, envelopeIds, requestId, signerId, once }),
      ...(content === undefined ? {} : { content }),
      ...(once?.body === undefined ? {} : { body: once.body }),
      action,
      effect,
      envelopeIds: knownIds(envelopeIds),
      // A request ID that may contain an email address is not stored; its key still finds it.
      requestId: requestId === undefined || requestId.includes('@') ? null : requestId,
      ...(reason ? { reason: this.#storedReason(reason) } : {}),
      ...this.#options.facts,
      account: this.#options.account,
    };
  }

  /** A create with a request ID, and a reminder, can be found again, also if they were not limited to one (`api`, a program). */
  #keyOf({
    action,
    envelopeIds: [envelopeId],
    requestId,
    signerId,
    once,
  }: Pick<LoggedWriteFacts, 'action' | 'envelopeIds' | 'requestId' | 'signerId' | 'once'>): { key?: string } {
    const { baseUrl } = this.#options.facts;
    if (once !== undefined) return { key: once.key };
    if (action === 'create' && requestId !== undefined) return { key: createKey(baseUrl, requestId) };
    if (action === 'remind' && envelopeId !== undefined)
      return { key: remindKey(baseUrl, envelopeId, signerId) };
    return {};
  }

  #end({ id, key, action }: Intent, type: IntentEnd['type'], more: Partial<IntentEnd> = {}): IntentEnd {
    const at = new Date(this.#options.clock.now()).toISOString();
    const serviceAt = new Date(this.#options.serviceNow()).toISOString();
    return {
      type,
      id,
      at,
      serviceAt,
      action,
      ...(key === undefined ? {} : { key }),
      ...more,
    };
  }

  /** Completes an entry. A failure is only reported, because the write has already been sent. */
  async #complete(record: IntentEnd): Promise<void> {
    try {
      await this.#options.memory.append([record]);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.#options.onIncomplete(error);
    }
  }
}

/** Returns the test for earlier writes that forbid this one. */
function countsFor({ since }: WriteIdentity, now: number): (write: LoggedWrite) => boolean {
  return since === undefined ? mayHaveCreated : (write) => mayHaveReminded(write, since, now);
}

/** Returns a new ID for an entry. */
function newWriteId(): string {
  return `log_${randomBytes(6).toString('hex')}`;
}

function knownIds(ids: readonly string[]): string[] {
  return ids.filter((id) => id !== '' && id.length <= MAX_ID_LENGTH);
}

function codeOf(code: string | null): string | null {
  return code === null || CODE.test(code) ? code : 'OTHER';
}
