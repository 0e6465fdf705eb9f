import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  ServerResponse,
} from 'node:http';
import { aborted, abortReason, type Clock } from '../../../kernel/clock.ts';

/** The maximum difference between the sandbox's clock and the machine's, in ms: a century. */
export const MAX_OFFSET_MS = 100 * 365 * 86_400_000;

/** The sandbox's clock as stored. */
export interface ClockRecord {
  /** The offset from the machine's clock, in ms. */
  value: number;
  /**
   * The time of a frozen clock, in ms since the epoch, because its offset refers to the start of the process. Absent if the clock runs, and
   * in records from before version 0.3.
   */
  frozenAt?: number | undefined;
}

/** The clock of the sandbox: the machine's clock plus a persisted offset. */
export class SandboxClock implements Clock {
  readonly #base: Clock;
  readonly #isFrozen: boolean;
  /** How far the sandbox's clock is ahead of the machine's, in ms. A caller that sets it must persist it. */
  offsetMs = 0;

  constructor(base: Clock, { isFrozen = false }: { isFrozen?: boolean | undefined } = {}) {
    this.#isFrozen = isFrozen;
    this.#base = isFrozen ? frozen(base.now()) : base;
  }

  /** Returns the record of an offset. */
  recordOf(offset: number): ClockRecord {
    return this.#isFrozen ? { value: offset, frozenAt: this.#base.now() + offset } : { value: offset };
  }

  /** Returns the offset for a record, which may be from an earlier run. */
  offsetOf({ value, frozenAt }: ClockRecord): number {
    return this.#isFrozen && frozenAt !== undefined ? this.offsetFor(frozenAt) : value;
  }

  /** Returns the offset at which the clock would show this time now. */
  offsetFor(time: number): number {
    return time - this.#base.now();
  }

  now(): number {
    return this.#base.now() + this.offsetMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#base.sleep(ms, signal);
  }
}

/** Creates a stopped clock. Nothing becomes due until the offset changes. */
function frozen(time: number): Clock {
  return {
    now: () => time,
    sleep: async (ms, signal = new AbortController().signal) => {
      if (ms <= 0) return;
      await aborted(signal);
      throw abortReason(signal);
    },
  };
}

/** Returns a time as ISO 8601 in UTC, like every timestamp of the API. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Node's timers overflow at about 25 days, so a longer wait is split. */
const MAX_SLEEP_MS = 24 * 3600_000;

/** Calls back once when the clock reaches the set time. Setting it again replaces the time. */
export class Alarm {
  readonly #clock: Clock;
  readonly #onAlarm: () => void;
  #waiting: AbortController | undefined;
  #at: number | undefined;
  #closed = false;

  constructor(clock: Clock, onAlarm: () => void) {
    this.#clock = clock;
    this.#onAlarm = onAlarm;
  }

  /** Sets the time; `undefined` turns the alarm off. Does nothing if the time is unchanged, unless the clock was `moved`. */
  set(at: number | undefined, moved = false): void {
    if (this.#closed || (at === this.#at && !moved)) return;
    this.#waiting?.abort();
    this.#waiting = undefined;
    this.#at = at;
    if (at === undefined) return;
    const waiting = new AbortController();
    this.#waiting = waiting;
    void this.#wait(at, waiting.signal);
  }

  /** Turns the alarm off permanently, so that a late `set` doesn't keep the process alive. */
  close(): void {
    this.set(undefined);
    this.#closed = true;
  }

  async #wait(at: number, signal: AbortSignal): Promise<void> {
    try {
      do {
        const left = Math.max(0, at - this.#clock.now());
        await this.#clock.sleep(Math.min(left, MAX_SLEEP_MS), signal);
      } while (this.#clock.now() < at);
    } catch {
      return; // set to another time, or off
    }
    this.#at = undefined;
    this.#onAlarm();
  }
}

/** Creates responses whose Date header has the time of a clock instead of the machine's. */
export function responseDatedBy(clock: Clock): typeof ServerResponse {
  return class<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    override writeHead(
      status: number,
      reason?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
      headers?: OutgoingHttpHeaders | OutgoingHttpHeader[],
    ): this {
      this.setHeader('Date', new Date(clock.now()).toUTCString());
      return typeof reason === 'string'
        ? super.writeHead(status, reason, headers)
        : super.writeHead(status, reason);
    }
  };
}
