import type { Clock } from '../kernel/clock.ts';
import { grouped } from '../kernel/duration.ts';
import { messageOf } from '../kernel/errors.ts';
import { LimitedWarning } from './limited-warning.ts';
import type { NotHttpReason } from './receive/not-http.ts';

/** Reports what a listener refuses, with the number: each kind at most once a minute, because anyone can cause it. */
export class ListenerWarnings {
  readonly #path: string;
  readonly #elsewhere: LimitedWarning;
  readonly #unrecorded: LimitedWarning;
  readonly #busy: LimitedWarning;
  readonly #notStored: LimitedWarning;
  readonly #crowded: LimitedWarning;
  readonly #notHttp: LimitedWarning;

  /** @param path the path at which webhooks are received */
  constructor(path: string, clock: Clock, warn: (message: string) => void) {
    this.#path = path;
    this.#elsewhere = new LimitedWarning(clock, warn);
    this.#unrecorded = new LimitedWarning(clock, warn);
    this.#busy = new LimitedWarning(clock, warn);
    this.#notStored = new LimitedWarning(clock, warn);
    this.#crowded = new LimitedWarning(clock, warn);
    this.#notHttp = new LimitedWarning(clock, warn);
  }

  /** Reports a request to another path. */
  elsewhere(path: string): void {
    this.#elsewhere.report((count) => {
      const what =
        count === 1 ? `A request to ${path} was` : `${grouped(count)} requests, such as to ${path}, were`;
      return `${what} refused with 404. Webhooks are received at ${this.#path}.`;
    });
  }

  /** Reports a refused or repeated delivery that isn't recorded. */
  unrecorded(what: 'refused' | 'repeated'): void {
    this.#unrecorded.report(
      (count) =>
        `Too many deliveries were ${what} today; ${grouped(count)} more only counted. For the rest of the day (UTC), no others are recorded.`,
    );
  }

  /** Reports a delivery that was refused before it was read. */
  busy(): void {
    this.#busy.report(
      (count) =>
        `${deliveriesText(count)} refused with 503, because too many large bodies are arriving at the same time.`,
    );
  }

  /** Reports a delivery that got a 500. */
  notStored(error: unknown): void {
    this.#notStored.report(
      (count) =>
        `${deliveriesText(count)} rejected with 500, so that the sender retries: ${messageOf(error)}`,
    );
  }

  /** Reports a connection that was closed in favor of a newer one. */
  crowded(): void {
    this.#crowded.report(
      (count) =>
        `${connectionsText(count)} closed without a complete request, because too many were open at the same time.`,
    );
  }

  /** Reports a connection that was closed because it sent no HTTP request. */
  notHttp(reason: NotHttpReason): void {
    const hint = reason === 'TLS' ? ' This port serves plain HTTP: use a URL that begins with http://.' : '';
    this.#notHttp.report(
      (count) => `${connectionsText(count)} closed because the sender used ${reason}.${hint}`,
    );
  }

  /** Reports what wasn't reported yet. */
  end(): void {
    for (const one of [this.#elsewhere, this.#unrecorded, this.#busy, this.#notStored]) one.end();
    for (const one of [this.#crowded, this.#notHttp]) one.end();
  }
}

/** Returns the beginning of a sentence, such as `1 delivery was` or `3 deliveries were`. */
function deliveriesText(count: number): string {
  return count === 1 ? '1 delivery was' : `${grouped(count)} deliveries were`;
}

function connectionsText(count: number): string {
  return count === 1 ? '1 connection was' : `${grouped(count)} connections were`;
}
