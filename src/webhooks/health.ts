import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Clock } from '../kernel/clock.ts';
import { durationInWords } from '../kernel/duration.ts';
import { messageOf } from '../kernel/errors.ts';
import { closeServer } from '../kernel/network/listening.ts';
import { EVENTS } from '../kernel/vocabulary.ts';
import type { OldestForward } from './forward/queue.ts';
import { shownUrl } from './forward/send.ts';
import { openPort } from './open-port.ts';
import type { Delivery } from './receive/delivery.ts';

/** Why a listener is unhealthy. */
export interface HealthReason {
  code: 'journal' | 'forward' | 'signature' | 'tunnel';
  message: string;
}

export interface HealthReport {
  ok: boolean;
  reasons: HealthReason[];
  /** When the last valid delivery arrived, in ISO 8601, or null if none did since the start. */
  lastVerifiedAt: string | null;
}

export interface HealthOptions {
  clock: Clock;
  /** Rejects if the journal isn't writable. */
  checkJournal: () => Promise<void>;
  oldestForward: () => OldestForward | undefined;
  hasTunnel: boolean;
}

const FORWARD_DELAY_MS = 30_000;
/** The number of invalid deliveries in a row that is a problem. Anyone can forge a few, but not every delivery is a forgery. */
const MAX_INVALID = 3;

/** Reports whether a listener works, from four facts: its journal, its forwards, the signatures, and its tunnel. */
export class Health {
  readonly #options: HealthOptions;
  #isTunnelOpen = false;
  #verifiedAt: number | undefined;
  /** The number of deliveries from the service that could not be verified since the last valid one, and why. */
  #invalid = { count: 0, reason: '' };

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** Records that a delivery was received. */
  received({ verified, reason, answer, envelopeId, event }: Delivery): void {
    if (verified) {
      this.#verifiedAt = this.#options.clock.now();
      this.#invalid.count = 0;
      return;
    }
    // Random requests of strangers name no event of an envelope.
    const isFromService = envelopeId !== null && EVENTS.some((known) => known === event);
    if (answer === 401 && isFromService)
      this.#invalid = { count: this.#invalid.count + 1, reason: reason ?? '' };
  }

  tunnelOpened(): void {
    this.#isTunnelOpen = true;
  }

  async report(): Promise<HealthReport> {
    const { checkJournal, hasTunnel, oldestForward } = this.#options;
    const found: [HealthReason['code'], string | undefined][] = [
      ['journal', await checkJournal().then(() => undefined, messageOf)],
      ['forward', forwardProblem(oldestForward())],
      ['signature', this.#signatureProblem()],
      ['tunnel', hasTunnel && !this.#isTunnelOpen ? 'The tunnel is not open yet.' : undefined],
    ];
    const reasons = found.flatMap(([code, message]) => (message === undefined ? [] : [{ code, message }]));
    const lastVerifiedAt = this.#verifiedAt === undefined ? null : new Date(this.#verifiedAt).toISOString();
    return { ok: reasons.length === 0, reasons, lastVerifiedAt };
  }

  #signatureProblem(): string | undefined {
    const { count, reason } = this.#invalid;
    return count < MAX_INVALID ? undefined : `The last ${count} deliveries could not be verified: ${reason}.`;
  }
}

function forwardProblem(oldest: OldestForward | undefined): string | undefined {
  if (oldest === undefined || oldest.ms <= FORWARD_DELAY_MS) return undefined;
  const why = oldest.error === null ? '' : ` (${oldest.error})`;
  return `A forward to ${shownUrl(oldest.url)} has been waiting for ${durationInWords(oldest.ms)}${why}.`;
}

export interface HealthServer {
  /** The URL of /healthz. */
  url: string;
  close(): Promise<void>;
}

const TIME_LIMITS = { headersTimeout: 5_000, requestTimeout: 5_000, connectionsCheckingInterval: 1_000 };

/**
 * Starts a server for monitoring: /healthz returns 200, or 503 with the reasons.
 * @throws UsageError if the port is in use.
 */
export async function startHealthServer(
  health: Health,
  { host, port }: { host: string; port: number },
): Promise<HealthServer> {
  const server = createServer(TIME_LIMITS, (request, response) => {
    void answer(request, response, health).catch(() => response.destroy());
  });
  const origin = await openPort(server, { host, port, flag: '--health-port', what: 'serve health checks' });
  return { url: `${origin}/healthz`, close: () => closeServer(server) };
}

async function answer(request: IncomingMessage, response: ServerResponse, health: Health): Promise<void> {
  if ((request.url ?? '').split('?')[0] !== '/healthz')
    return send(response, 404, 'text/plain', 'see /healthz\n');
  const report = await health.report();
  send(response, report.ok ? 200 : 503, 'application/json', `${JSON.stringify(report)}\n`);
}

function send(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, {
    'content-type': `${type}; charset=utf-8`,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  });
  response.end(text);
}
