import type { Clock } from '../../kernel/clock.ts';
import { durationInWords, grouped } from '../../kernel/duration.ts';
import { messageOf } from '../../kernel/errors.ts';
import { EVENTS } from '../../kernel/vocabulary.ts';
import type { OldestPending } from '../forward/queue.ts';
import { type ForwardResult, shownUrl } from '../forward/send.ts';
import type { Delivery } from '../receive/delivery.ts';
import { deliveriesText } from '../receive/failures.ts';
import { ClockWatch, type ClockWatchOptions } from './clock-watch.ts';
import { DiskWatch } from './disk-watch.ts';

export const REASON_CODES = [
  'journal',
  'tunnel',
  'forward',
  'signature',
  'clock',
  'port',
  'connections',
  'stopping',
] as const;

/** A problem of a listener. */
export interface Reason {
  code: (typeof REASON_CODES)[number];
  message: string;
}

export interface HealthOptions extends ClockWatchOptions {
  /** Rejects if the journal isn't writable. */
  checkJournal: () => Promise<void>;
  forwarding: { readonly oldestPending: OldestPending | undefined; readonly pending: number };
}

const PENDING_TOO_LONG_MS = 30_000;
/** How long dropped connections are reported, so that a monitor sees them. */
const REPORT_DROPPED_MS = 60_000;

/** Collects the events of a listener and reports whether it works and, if not, why. */
export class Health {
  readonly startedAt: number;
  readonly forwarding: HealthOptions['forwarding'];
  /** Counters since the start, for monitoring. */
  readonly counts = {
    verified: 0,
    unverified: 0,
    refused: 0,
    duplicates: 0,
    /** Deliveries that got a 500. */
    failed: 0,
    /** Connections closed because too many were open. */
    dropped: 0,
    forwarded: 0,
    forwardsFailed: 0,
    tunnelRestarts: 0,
  };
  readonly #disk: DiskWatch;
  readonly #signatures: SignatureWatch;
  readonly #clocks: ClockWatch;
  readonly #clock: Clock;
  #droppedAt = Number.NEGATIVE_INFINITY;
  /** Problems that are reported until they are cleared. */
  readonly #lasting = new Map<Reason['code'], string>();

  constructor(options: HealthOptions) {
    const { clock, checkJournal, forwarding } = options;
    this.#clock = clock;
    this.startedAt = clock.now();
    this.forwarding = forwarding;
    this.#disk = new DiskWatch(clock, checkJournal);
    this.#signatures = new SignatureWatch(clock);
    this.#clocks = new ClockWatch(options);
  }

  /** Records that a delivery was stored in the journal. */
  received(delivery: Delivery): void {
    this.#disk.succeeded();
    this.#signatures.take(delivery);
    this.#clocks.addDelivery(delivery);
    if (delivery.reason !== null) this.counts.refused++;
    else if (delivery.verified) this.counts.verified++;
    else this.counts.unverified++;
    this.counts.duplicates += Number(delivery.duplicate);
  }

  /** Records that a delivery got a 500. */
  failed(error: unknown): void {
    this.#disk.failed(error);
    this.counts.failed++;
  }

  /** Records that a connection was closed because too many were open. Returns true if none was closed shortly before. */
  dropped(): boolean {
    const isFirst = this.#droppedConnections() === undefined;
    this.counts.dropped++;
    this.#droppedAt = this.#clock.now();
    return isFirst;
  }

  forwarded({ error }: Pick<ForwardResult, 'error'>): void {
    if (error === null) this.counts.forwarded++;
    else this.counts.forwardsFailed++;
  }

  tunnelDown(error: unknown): void {
    // The tunnel's output may be confidential.
    this.#lasting.set('tunnel', messageOf(error).replace(/ It(?:s output:| printed)[\s\S]*/, ''));
    this.counts.tunnelRestarts++;
  }

  tunnelUp(): void {
    this.#lasting.delete('tunnel');
  }

  /** Sets the reason why the listener can't use its port. @param message undefined if it can again */
  port(message: string | undefined): void {
    if (message === undefined) this.#lasting.delete('port');
    else this.#lasting.set('port', message);
  }

  stopping(): void {
    this.#lasting.set('stopping', 'It is stopping.');
    this.#clocks.stop();
  }

  /** The time of the last valid delivery, in ms since the epoch. */
  get verifiedAt(): number | undefined {
    return this.#signatures.verifiedAt;
  }

  /** Returns the current problems; empty if everything works. */
  async reasons(): Promise<Reason[]> {
    const checked: [Reason['code'], string | undefined][] = [
      ['journal', await this.#disk.findProblem()],
      ['forward', pendingReason(this.forwarding.oldestPending)],
      ['signature', this.#signatures.findProblem()],
      ['clock', this.#clocks.findProblem()],
      ['connections', this.#droppedConnections()],
    ];
    return [...this.#lasting, ...checked].flatMap(([code, message]) =>
      message === undefined ? [] : [{ code, message }],
    );
  }

  #droppedConnections(): string | undefined {
    if (Math.abs(this.#clock.now() - this.#droppedAt) >= REPORT_DROPPED_MS) return undefined;
    return `Too many connections: ${grouped(this.counts.dropped)} have been closed since the start.`;
  }
}

function pendingReason(held: OldestPending | undefined): string | undefined {
  if (held === undefined || held.ms <= PENDING_TOO_LONG_MS) return undefined;
  const { url, ms, error, behind } = held;
  const why = error === null ? '' : ` (${error})`;
  const rest = behind === 0 ? '' : `; ${behind} more for its envelope ${behind === 1 ? 'is' : 'are'} queued`;
  return `A forward to ${shownUrl(url)} has been pending for ${durationInWords(ms)}${why}${rest}.`;
}

/** The number of consecutive invalid deliveries that is reported. Anyone can forge a few, but not every delivery is a forgery. */
const MIN_FAILURES = 3;
/** Invalid deliveries are no longer counted after this long without another one. */
const FAILURE_WINDOW_MS = 3_600_000;

/** Detects that deliveries arrive from the service but none can be verified, because the secret is wrong or has changed. */
class SignatureWatch {
  /** The time of the last valid delivery, in ms since the epoch. */
  verifiedAt: number | undefined;
  readonly #clock: Clock;
  readonly #startedAt: number;
  #refused = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #why = '';

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = clock.now();
  }

  take(delivery: Delivery): void {
    if (delivery.verified) {
      this.verifiedAt = this.#clock.now();
      this.#refused = 0;
    } else if (delivery.answer === 401 && isFromService(delivery)) {
      this.#refused++;
      this.#refusedAt = this.#clock.now();
      this.#why = delivery.reason ?? '';
    }
  }

  findProblem(): string | undefined {
    const now = this.#clock.now();
    const enough = this.verifiedAt === undefined ? 1 : MIN_FAILURES;
    if (this.#refused < enough || Math.abs(now - this.#refusedAt) > FAILURE_WINDOW_MS) return undefined;
    const since = durationInWords(Math.max(0, now - (this.verifiedAt ?? this.#startedAt)));
    return `There was no valid signature for ${since}, and ${deliveriesText(this.#refused)} refused: ${this.#why}.`;
  }
}

/** Returns true if the delivery looks like one from the service rather than a random request. */
function isFromService({ envelopeId, event }: Delivery): boolean {
  return envelopeId !== null && EVENTS.some((known) => known === event);
}
