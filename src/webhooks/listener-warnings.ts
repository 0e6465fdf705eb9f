import type { Clock } from '../kernel/clock.ts';
import { grouped } from '../kernel/duration.ts';
import { messageOf } from '../kernel/errors.ts';
import { LimitedWarning } from './limited-warning.ts';
import { TOO_LARGE } from './receive/body-limits.ts';
import type { SenderFault } from './receive/not-http.ts';
import type { UnreadStatus } from './receive/receiver.ts';

const UNREAD: Readonly<Record<UnreadStatus, string>> = {
  405: 'the method is not POST',
  413: TOO_LARGE,
  503: 'too many large bodies are arriving at the same time',
};

type Kind = UnreadStatus | SenderFault | 404 | 500 | 'crowded' | 'unrecorded';

/** Reports what a listener refuses, with the number: each kind at most once a minute, because anyone can cause it. */
export class ListenerWarnings {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #warn: (message: string) => void;
  readonly #kinds = new Map<Kind, LimitedWarning>();

  /** @param path the path at which webhooks are received */
  constructor(path: string, clock: Clock, warn: (message: string) => void) {
    this.#path = path;
    this.#clock = clock;
    this.#warn = warn;
  }

  /** Reports a request to another path. */
  elsewhere(path: string): void {
    this.#of(404).report((count) => {
      const what =
        count === 1 ? `A request to ${path} was` : `${grouped(count)} requests, such as to ${path}, were`;
      return `${what} refused with 404. Webhooks are received at ${this.#path}.`;
    });
  }

  /** Reports a refused or repeated delivery that isn't recorded. */
  unrecorded(what: 'refused' | 'repeated'): void {
    this.#of('unrecorded').report(
      (count) =>
        `Too many deliveries were ${what} today; ${grouped(count)} more only counted. For the rest of the day (UTC), no others are recorded.`,
    );
  }

  /** Reports a request that was refused before its body was read to the end. */
  unread(status: UnreadStatus): void {
    this.#of(status).report(
      (count) => `${counted(count, 'request')} refused with ${status}, because ${UNREAD[status]}.`,
    );
  }

  /** Reports a delivery that got a 500. */
  notStored(error: unknown): void {
    this.#of(500).report(
      (count) =>
        `${counted(count, 'delivery', 'deliveries')} rejected with 500, so that the sender retries: ${messageOf(error)}`,
    );
  }

  /** Reports a connection that was closed in favor of a newer one. */
  crowded(): void {
    this.#of('crowded').report(
      (count) =>
        `${counted(count, 'connection')} closed without a complete request, because too many were open at the same time.`,
    );
  }

  /** Reports a connection that was closed because no request could be read. */
  unreadable(fault: SenderFault): void {
    const hint =
      fault === 'used TLS' ? ' This port serves plain HTTP: use a URL that begins with http://.' : '';
    this.#of(fault).report(
      (count) => `${counted(count, 'connection')} closed because the sender ${fault}.${hint}`,
    );
  }

  /** Reports what wasn't reported yet. */
  end(): void {
    for (const warning of this.#kinds.values()) warning.end();
  }

  #of(kind: Kind): LimitedWarning {
    const warning = this.#kinds.get(kind) ?? new LimitedWarning(this.#clock, this.#warn);
    this.#kinds.set(kind, warning);
    return warning;
  }
}

/** Returns the beginning of a sentence, such as `1 delivery was` or `3 deliveries were`. */
function counted(count: number, one: string, several = `${one}s`): string {
  return count === 1 ? `1 ${one} was` : `${grouped(count)} ${several} were`;
}
