import { randomBytes } from 'node:crypto';
import type { RunEnd } from '../api/write-gate.ts';
import type { Clock } from '../kernel/clock.ts';
import { EsignError, isAmbiguous } from '../kernel/errors.ts';
import type { BeginRecord, EndRecord } from './entry.ts';
import type { WriteLog } from './write-log.ts';

export interface RecorderOptions {
  log: Pick<WriteLog, 'append'>;
  /** The facts about this process that each entry contains. */
  facts: Pick<BeginRecord, 'user' | 'profile' | 'baseUrl' | 'command'>;
  clock: Pick<Clock, 'now'>;
  /** Called when a write was sent but its entry could not be completed. */
  onIncomplete: (error: Error) => void;
}

/** The facts about a write before it is sent. */
export interface WriteFacts {
  action: BeginRecord['action'];
  effect: BeginRecord['effect'];
  envelopeIds: readonly string[];
  requestId: string | undefined;
}

/** The form of the service's IDs and codes. Anything else is not stored in the log. */
const ID = /^[\w.:~-]{1,128}$/;
const CODE = /^[A-Z][A-Z0-9_]{0,63}$/;

/** Records each write before it is sent, and again when its outcome is known. */
export class LogRecorder {
  readonly #options: RecorderOptions;
  /** Entries whose response was lost, by request ID or envelope ID. */
  readonly #incomplete = new Map<string, string>();

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Records a write that a guard refused. If the log can't be written, the refusal is still reported. */
  async refused(write: WriteFacts, code: string): Promise<void> {
    const record = { ...this.#begin(write), outcome: 'refused', error: code } as const;
    await this.#options.log.append(record).catch(() => undefined);
  }

  /**
   * Sends a write between the two records of its entry. `send` calls its argument when the write leaves this machine, and `idIn`
   * returns the ID of the envelope in the result.
   * @throws JournalError before the write is sent, if it can't be recorded.
   */
  async record<T>(
    write: WriteFacts,
    send: (onSend: () => void) => Promise<T>,
    idIn: (result: T) => string | undefined,
  ): Promise<T> {
    const begin = this.#begin(write);
    const { id } = begin;
    await this.#options.log.append(begin);
    const progress = { isSent: false };
    try {
      const result = await send(() => {
        progress.isSent = true;
      });
      const envelopeIds = begin.envelopeIds.length > 0 ? begin.envelopeIds : knownIds([idIn(result) ?? '']);
      await this.#complete({ type: 'end', id, outcome: 'done', error: null, envelopeIds });
      return result;
    } catch (error) {
      const isRefused = !progress.isSent || (error instanceof EsignError && !isAmbiguous(error));
      if (!isRefused) this.#incomplete.set(write.requestId ?? begin.envelopeIds[0] ?? id, id);
      const code = codeOf(error instanceof EsignError ? error.code : 'INTERRUPTED');
      await this.#complete({ type: 'end', id, outcome: isRefused ? 'refused' : 'unknown', error: code });
      throw error;
    }
  }

  /** Records that a write with a lost response was done. `key`: its request ID or envelope ID. */
  async resolve(key: string, envelopeId: string): Promise<void> {
    const id = this.#incomplete.get(key);
    if (id === undefined) return;
    this.#incomplete.delete(key);
    const envelopeIds = knownIds([envelopeId]);
    await this.#complete({ type: 'end', id, outcome: 'done', error: null, envelopeIds });
  }

  /** Begins the entry shared by all writes of a bulk run. Returns a function that completes it. */
  async beginRun(run: string, sends: boolean): Promise<(end: RunEnd) => Promise<void>> {
    const effect = sends ? 'mails' : 'writes';
    const begin = this.#begin({ action: 'create', effect, envelopeIds: [], requestId: undefined });
    await this.#options.log.append({ ...begin, run });
    return ({ envelopeIds, error, ...end }) => {
      const known = { error: codeOf(error), envelopeIds: knownIds(envelopeIds) };
      return this.#complete({ type: 'end', id: begin.id, ...end, ...known });
    };
  }

  #begin({ action, effect, envelopeIds, requestId }: WriteFacts): BeginRecord {
    return {
      type: 'begin',
      id: `log_${randomBytes(6).toString('hex')}`,
      at: new Date(this.#options.clock.now()).toISOString(),
      ...this.#options.facts,
      action,
      effect,
      envelopeIds: knownIds(envelopeIds),
      // A request ID that may contain an email address is not stored.
      requestId: requestId === undefined || requestId.includes('@') ? null : requestId,
    };
  }

  /** Completes an entry. A failure is only reported, because the write has already been sent. */
  async #complete(record: EndRecord): Promise<void> {
    try {
      await this.#options.log.append(record);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.#options.onIncomplete(error);
    }
  }
}

function knownIds(ids: readonly string[]): string[] {
  return ids.filter((id) => ID.test(id));
}

function codeOf(code: string | null): string | null {
  return code === null || CODE.test(code) ? code : 'OTHER';
}
