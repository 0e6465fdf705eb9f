import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Clock } from '../kernel/clock.ts';
import { durationInWords } from '../kernel/duration.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { closeServer, openPort } from '../kernel/network/listening.ts';
import { EVENTS } from '../kernel/vocabulary.ts';
import type { OldestForward } from './forward/queue.ts';
import { limitConnections } from './receive/connections.ts';
import type { Delivery } from './receive/delivery.ts';

/** Why a listener is unhealthy. */
export interface HealthReason {
  code: 'journal' | 'forward' | 'signature' | 'connections' | 'tunnel';
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
/**
 * The number of invalid deliveries in a row, and the time between the first and the last, that are a problem. Anyone can forge a few, but
 * not every delivery over a longer time is a forgery: services retry.
 */
const MIN_INVALID = 3;
const MIN_INVALID_MS = 5 * 60_000;
/** How long a shortage of connections is reported. */
const SHORTAGE_MS = 60_000;

/** Reports whether a listener works: its journal, its forwards, the signatures, its connections, and its tunnel. */
export class Health {
  readonly #options: HealthOptions;
  #isTunnelOpen = false;
  #verifiedAt: number | undefined;
  /** The number of deliveries from the service that could not be verified since the last valid one, and why. */
  #invalid: { count: number; since: number; last: number; reason: string } | undefined;
  #shortageAt: number | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** Records that a delivery was received. */
  received({ verified, reason, answer, envelopeId, event }: Delivery): void {
    if (verified) {
      this.#verifiedAt = this.#options.clock.now();
      this.#invalid = undefined;
      return;
    }
    // Random requests of strangers name no event of an envelope.
    const isFromService = envelopeId !== null && EVENTS.some((known) => known === event);
    if (answer !== 401 || !isFromService) return;
    const now = this.#options.clock.now();
    const { count, since } = this.#invalid ?? { count: 0, since: now };
    this.#invalid = { count: count + 1, since, last: now, reason: reason ?? '' };
  }

  /** Records that a connection was closed because there were too many. */
  closedConnection(): void {
    this.#shortageAt = this.#options.clock.now();
  }

  tunnelOpened(): void {
    this.#isTunnelOpen = true;
  }

  async report(): Promise<HealthReport> {
    const { checkJournal, hasTunnel, oldestForward } = this.#options;
    const found: [HealthReason['code'], string | undefined][] = [
      ['journal', await checkJournal().then(() => undefined, journalProblem)],
      ['forward', forwardProblem(oldestForward())],
      ['signature', this.#signatureProblem()],
      ['connections', this.#connectionProblem()],
      ['tunnel', hasTunnel && !this.#isTunnelOpen ? 'The tunnel is not open yet.' : undefined],
    ];
    const reasons = found.flatMap(([code, message]) => (message === undefined ? [] : [{ code, message }]));
    const lastVerifiedAt = this.#verifiedAt === undefined ? null : new Date(this.#verifiedAt).toISOString();
    return { ok: reasons.length === 0, reasons, lastVerifiedAt };
  }

  #signatureProblem(): string | undefined {
    const { count, since, last, reason } = this.#invalid ?? { count: 0, since: 0, last: 0, reason: '' };
    if (count < MIN_INVALID || last - since < MIN_INVALID_MS) return undefined;
    return `The last ${count} deliveries could not be verified: ${reason}.`;
  }

  #connectionProblem(): string | undefined {
    const { clock } = this.#options;
    if (this.#shortageAt === undefined || Math.abs(clock.now() - this.#shortageAt) >= SHORTAGE_MS)
      return undefined;
    return 'Too many connections are open, so some were closed without a complete request.';
  }
}

/** Returns why the journal can't be written, without its path: anyone who reaches the port can read it. */
function journalProblem(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined
    ? "The journal can't be written."
    : `The journal can't be written: ${diskReason(cause)}.`;
}

function forwardProblem(oldest: OldestForward | undefined): string | undefined {
  if (oldest === undefined || oldest.ms <= FORWARD_DELAY_MS) return undefined;
  const why = oldest.error === null ? '' : ` (${oldest.error})`;
  return `A forward to ${new URL(oldest.url).origin} has been waiting for ${durationInWords(oldest.ms)}${why}.`;
}

export interface HealthServer {
  /** The URL of /healthz. */
  url: string;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 100;
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
  limitConnections(server, MAX_CONNECTIONS, () => undefined);
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
    connection: 'close',
  });
  response.end(text);
}
