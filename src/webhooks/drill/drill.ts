import type { ClientRequest } from 'node:http';
import type { Clock } from '../../kernel/clock.ts';
import { NetworkError } from '../../kernel/errors.ts';
import { connectionReason } from '../../kernel/network/unreachable.ts';
import { isSuccess, postOnce, type ResponseOutcome, shownUrl } from '../forward/send.ts';
import { DRILL_TIMEOUT_MS } from '../listen-defaults.ts';
import { DRILL_CHECKS, type DrillCheck } from './checks.ts';
import { DrillRequests } from './requests.ts';

export interface CheckResult {
  check: string;
  ok: boolean;
  /** The status of the response, or null without a response. */
  status: number | null;
  ms: number;
  /** What the receiver did wrong, and how to fix it. */
  finding: string | null;
}

export interface DrillRun {
  url: string;
  secret: string;
  clock: Clock;
  signal: AbortSignal;
}

const TIMED_OUT = `no response within ${DRILL_TIMEOUT_MS / 1_000} s`;
/** The number of pieces in which the slow request is sent. */
const PIECES = 5;
const BETWEEN_PIECES_MS = 200;

/**
 * Runs all checks against a receiver, one after another, and yields the results. Without a correct response to valid deliveries, the other
 * checks would mean nothing, so they are not run.
 * @throws NetworkError if nothing is listening.
 */
export async function* drill(run: DrillRun): AsyncGenerator<CheckResult, void, undefined> {
  const make = new DrillRequests(run.secret, run.clock.now());
  for (const check of DRILL_CHECKS) {
    const result = await runCheck(check, make, run);
    yield result;
    if (check === DRILL_CHECKS[0] && !result.ok) return;
  }
}

/** Sends the requests of a check one after another. The first wrong response is the result, otherwise the last one. */
async function runCheck(check: DrillCheck, make: DrillRequests, run: DrillRun): Promise<CheckResult> {
  const { url, clock, signal } = run;
  const options = { timeoutMs: DRILL_TIMEOUT_MS, clock, signal };
  const { name, expects } = check;
  const result: CheckResult = { check: name, ok: true, status: null, ms: 0, finding: null };
  for (const { label, ...request } of check.requests(make)) {
    const write = check.isSlow ? (to: ClientRequest) => writeInPieces(request.raw, to, run) : undefined;
    const outcome = await postOnce({ url, ...request }, { ...options, write });
    // The results of an aborted run are meaningless.
    signal.throwIfAborted();
    if (check === DRILL_CHECKS[0] && isUnreachable(outcome)) throw unreachable(url, outcome.error ?? '');
    const { status, ms } = outcome;
    Object.assign(result, { status, ms });
    if (isExpected(expects, status)) continue;
    const finding = `${label === '' ? '' : `${label}: `}${describeResponse(outcome)}; ${adviceFor(check, outcome)}`;
    return { ...result, ok: false, finding };
  }
  return result;
}

/** Writes a body slowly, and ends the request. */
function writeInPieces(raw: Buffer, request: ClientRequest, { clock, signal }: DrillRun): void {
  const size = Math.ceil(raw.byteLength / PIECES);
  const write = async () => {
    for (let start = 0; start < raw.byteLength && !request.destroyed; start += size) {
      await clock.sleep(BETWEEN_PIECES_MS, signal);
      request.write(raw.subarray(start, start + size));
    }
    request.end();
  };
  write().catch(() => request.destroy());
}

function isExpected(expects: DrillCheck['expects'], status: number | null): boolean {
  return expects === 'accepted' ? isSuccess(status) : status !== null && status >= 400 && status < 500;
}

/** Describes the response to a delivery. */
export function describeResponse({ status, error }: Pick<ResponseOutcome, 'status' | 'error'>): string {
  if (status === null) return WORDS[error ?? ''] ?? error ?? 'no response';
  if (isSuccess(status)) return `accepted (${status})`;
  if (status >= 500) return `failed (${status})`;
  return status >= 400 ? `refused (${status})` : `responded with ${status}`;
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNRESET: 'closed the connection without a response',
  EPIPE: 'closed the connection without a response',
  ECONNREFUSED: 'stopped listening',
};

/** Returns how to fix a wrong response. */
function adviceFor({ advice, adviceByStatus }: DrillCheck, { status, error }: ResponseOutcome): string {
  if (error === TIMED_OUT) return 'respond first, and then process the event';
  return adviceByStatus?.[status ?? 0] ?? advice;
}

/** Returns true if the request didn't reach a web server. A closed connection or a timeout means that it did. */
function isUnreachable({ status, error }: ResponseOutcome): boolean {
  return status === null && error !== TIMED_OUT && !/^(?:ECONNRESET|EPIPE)$/.test(error ?? '');
}

function unreachable(url: string, error: string): NetworkError {
  const isNotHttp = error.startsWith('HPE_');
  const why = isNotHttp ? "it isn't an HTTP server" : connectionReason(error);
  return new NetworkError('NETWORK', `No response from ${shownUrl(url)}: ${why}.`, {
    maybeReceived: false,
    hint: 'Start your application, check the address, and run the command again.',
  });
}
