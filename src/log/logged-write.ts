import { CLOCK_SLACK_MS } from '../api/service-clock.ts';
import type { Intent, IntentEnd, LogRecord } from './stored-records.ts';

/** A write, as far as its records show it. */
export interface LoggedWrite {
  intent: Intent;
  /** `open`: no outcome is known, because the request is in flight, or its process ended. */
  state: 'open' | IntentEnd['type'];
  envelopeIds: readonly string[];
  /** When the last record was written: by this machine's clock, and by the service's (ISO 8601). */
  at: string;
  serviceAt: string;
  /** An error code. */
  error: string | null;
  counts: Record<string, number> | undefined;
  /** The name of the file with its last intent. Names are in the order of their months. */
  file: string;
}

/** Collects records into writes, in the order of their last intents. */
export class WriteList {
  readonly #writes = new Map<string, LoggedWrite>();

  take(record: LogRecord, file: string): void {
    if (record.type === 'intent') this.#begin(record, file);
    else this.#end(record);
  }

  get writes(): LoggedWrite[] {
    return [...this.#writes.values()];
  }

  /** Another attempt takes a new place: readers decide by the order of the last intents. */
  #begin(record: Intent, file: string): void {
    this.#writes.delete(record.id);
    const { at, serviceAt, envelopeIds } = record;
    this.#writes.set(record.id, {
      intent: record,
      state: 'open',
      at,
      serviceAt,
      envelopeIds,
      error: null,
      counts: undefined,
      file,
    });
  }

  #end({ id, type, at, serviceAt, envelopeIds, error = null, counts }: IntentEnd): void {
    const write = this.#writes.get(id);
    if (write === undefined) return;
    write.state = type;
    write.at = at;
    write.serviceAt = serviceAt;
    write.error = error;
    write.envelopeIds = envelopeIds ?? write.envelopeIds;
    write.counts = counts ?? write.counts;
  }
}

/** Returns true if a create may have created an envelope: everything except a refusal and one that was certainly not done. */
export function mayHaveCreated({ state }: LoggedWrite): boolean {
  return state !== 'refused' && state !== 'absent';
}

/** Returns the latest of these times (ISO 8601), in ms. One after `now` (ms) is of a clock that was wrong, and doesn't count. */
export function latestTimeBefore(times: readonly string[], now: number): number | undefined {
  const past = times.map((time) => Date.parse(time)).filter((ms) => ms <= now + CLOCK_SLACK_MS);
  return past.length === 0 ? undefined : Math.max(...past);
}

/**
 * Returns when a reminder was sent (ms, service clock). Its intent may be dated by this machine's clock, because only a response
 * shows the service's. Returns undefined if both clocks were ahead of `now` (ms), because nobody would be reminded until then.
 */
export function remindedAt({ intent, at, serviceAt }: LoggedWrite, now: number): number | undefined {
  return latestTimeBefore([intent.serviceAt, serviceAt], now) ?? latestTimeBefore([intent.at, at], now);
}

/** Returns true if a reminder may have been sent at `since` (ms, service clock) or later. */
export function mayHaveReminded(write: LoggedWrite, since: number, now: number): boolean {
  return write.state !== 'refused' && (remindedAt(write, now) ?? Number.NEGATIVE_INFINITY) >= since;
}
