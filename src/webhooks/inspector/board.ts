import type { Clock } from '../../kernel/clock.ts';
import type { ForwardResult } from '../forward/send.ts';
import type { EventRecord } from '../journal/record.ts';

/** An attempt to forward a delivery, as the page shows it. */
export interface ForwardAttempt extends Omit<ForwardResult, 'id'> {
  /** When the attempt ended, in ISO 8601. */
  at: string;
  /** Whether the user requested the attempt on the page. */
  replay: boolean;
}

/** A delivery, and what happened to it afterwards. */
export interface InspectorEntry {
  record: EventRecord;
  /** How long the sender waited for the response; null for deliveries read from the journal. */
  answeredInMs: number | null;
  passings: ForwardAttempt[];
  /** The number of its last change. Each change gets a higher number. */
  change: number;
}

const MAX_ENTRIES = 1_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** The maximum number of attempts to forward a delivery. A delivery that an application doesn't accept is sent once a minute, for a day. */
const MAX_ATTEMPTS = 100;

/** The latest deliveries, limited by number and size. Notifies pages of changes. */
export class DeliveryBoard {
  readonly #clock: Clock;
  readonly #entries = new Map<string, InspectorEntry>();
  readonly #watchers = new Set<() => void>();
  /** The address at which webhooks are received; empty until the receiver has started. */
  listensAt = '';
  #bytes = 0;
  #change = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The number of the last change. */
  get change(): number {
    return this.#change;
  }

  entry(deliveryId: string): InspectorEntry | undefined {
    return this.#entries.get(deliveryId);
  }

  /** Returns the deliveries that changed after a given change, in order of arrival. */
  since(change: number): InspectorEntry[] {
    return [...this.#entries.values()].filter((entry) => entry.change > change);
  }

  /** Adds a delivery that was stored in the journal. */
  addDelivery(record: EventRecord, answeredInMs: number | null): void {
    if (this.#entries.has(record.deliveryId)) return;
    this.#entries.set(record.deliveryId, { record, answeredInMs, passings: [], change: ++this.#change });
    this.#bytes += sizeOf(record);
    for (const entry of this.#entries.values()) {
      if (this.#entries.size <= MAX_ENTRIES && this.#bytes <= MAX_BYTES) break;
      this.#remove(entry);
    }
    this.#wake();
  }

  /** Adds an attempt to forward a delivery. */
  addForward({ id, ...result }: ForwardResult, replay: boolean): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    entry.passings.push({ ...result, replay, at: new Date(this.#clock.now()).toISOString() });
    if (entry.passings.length > MAX_ATTEMPTS) entry.passings.shift();
    entry.change = ++this.#change;
    this.#wake();
  }

  /** Calls `onChange` after each change, until the returned function is called. */
  watch(onChange: () => void): () => void {
    this.#watchers.add(onChange);
    return () => this.#watchers.delete(onChange);
  }

  #remove({ record }: InspectorEntry): void {
    this.#entries.delete(record.deliveryId);
    this.#bytes -= sizeOf(record);
  }

  #wake(): void {
    for (const onChange of this.#watchers) onChange();
  }
}

function sizeOf(record: EventRecord): number {
  return record.bodyBase64.length + record.headers.reduce((sum, pair) => sum + pair.join('').length, 512);
}
