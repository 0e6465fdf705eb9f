import type { ClientRequest } from 'node:http';
import { type Clock, waitAtMost } from '../../kernel/clock.ts';
import { NetworkError } from '../../kernel/errors.ts';
import { connectionReason } from '../../kernel/network/unreachable.ts';
import { postOnce, type ResponseOutcome, shownUrl } from '../forward/send.ts';
import { DRILL_TIMEOUT_MS } from '../listen-defaults.ts';
import { DRILL_CHECKS, type DrillCheck } from './checks.ts';
import { type DrillRequest, DrillRequests } from './requests.ts';

export interface CheckResult {
  check: string;
  ok: boolean;
  /** The status of the response, or null without a response. */
  status: number | null;
  ms: number;
  /** What the receiver did wrong, and how to fix it. */
  finding: string | null;
  /** An observation that isn't an error. */
  notice?: string;
}

export interface DrillRun {
  url: string;
  secret: string;
  clock: Clock;
  signal: AbortSignal;
}

const TIMED_OUT = `no response within ${DRILL_TIMEOUT_MS / 1_000} s`;
/** The longest wait for a response before the next check starts. It keeps the whole drill under ten seconds. */
const NEXT_AFTER_MS = 120;
/** How long to wait for the response to the original before the delivery is repeated. */
const REPEAT_AFTER_MS = 700;
/** The number of pieces in which the slow request is sent. */
const PIECES = 5;
const BETWEEN_PIECES_MS = 200;

/**
 * Runs all checks against a receiver and yields the results in order.
 * @throws NetworkError if nothing is listening.
 */
export async function* drill(run: DrillRun): AsyncGenerator<CheckResult, void, undefined> {
  const left = new AbortController();
  const signal = AbortSignal.any([run.signal, left.signal]);
  const { clock } = run;
  let mayStart: Promise<unknown> = Promise.resolve();
  const make = new DrillRequests(run.secret, clock.now());
  const results = DRILL_CHECKS.map((check) => {
    const result = mayStart.then(() => checkOne(check, check.requests(make), { ...run, signal }));
    const pause = check.name === 'good' ? REPEAT_AFTER_MS : NEXT_AFTER_MS;
    mayStart = mayStart.then(() => waitAtMost(pause, result, clock));
    return result;
  });
  for (const result of results) result.catch(() => undefined);
  mayStart.catch(() => undefined);
  try {
    let good: CheckResult | undefined;
    for (const result of results) {
      const done = await result;
      run.signal.throwIfAborted();
      yield good === undefined ? done : compareWithValid(done, good);
      good ??= done;
    }
  } finally {
    left.abort();
  }
}

/** Points to the valid delivery if a check fails in the same way, because both have the same cause. */
function compareWithValid(result: CheckResult, good: CheckResult): CheckResult {
  const { ok, status, finding } = result;
  if (ok || finding === null || good.ok || status === null || status !== good.status) return result;
  return {
    ...result,
    finding: `${finding.replace(/; .*/, '')}, like the valid delivery; fix that problem first`,
  };
}

async function checkOne(
  check: DrillCheck,
  requests: readonly DrillRequest[],
  run: DrillRun,
): Promise<CheckResult> {
  run.signal.throwIfAborted();
  if (check.isSlow) return checkSlow(check, requests, run);
  const answers = await (check.inOrder ? sendInOrder(requests, run) : sendAll(requests, run));
  // The results of an aborted run are meaningless.
  run.signal.throwIfAborted();
  if (check.name === 'good' && answers.every(isUnreachable))
    throw unreachable(run.url, answers[0]?.error ?? '');
  return judge(check, answers);
}

interface Answered extends ResponseOutcome {
  label: string;
}

function sendAll(requests: readonly DrillRequest[], run: DrillRun): Promise<Answered[]> {
  return Promise.all(requests.map(async (one) => ({ label: one.label, ...(await send(one, run)) })));
}

async function sendInOrder(requests: readonly DrillRequest[], run: DrillRun): Promise<Answered[]> {
  const answers: Promise<Answered[]>[] = [];
  for (const one of requests) {
    const answer = sendAll([one], run);
    answers.push(answer);
    await waitAtMost(NEXT_AFTER_MS, answer, run.clock);
  }
  return (await Promise.all(answers)).flat();
}

/** Sends one request in pieces and another at the same time, to find out whether the slow one blocks the other. */
async function checkSlow(
  check: DrillCheck,
  [slow, other]: readonly DrillRequest[],
  run: DrillRun,
): Promise<CheckResult> {
  if (slow === undefined || other === undefined) throw new Error('a slow check makes two requests');
  const slowly = writeSlowly(slow.raw, run);
  const [answer, isHeldUp] = await Promise.all([
    send(slow, run, slowly.write),
    run.clock
      .sleep(BETWEEN_PIECES_MS, run.signal)
      .then(() => send(other, run))
      .then(() => slowly.isWhole()),
  ]);
  const early = answer.status !== null && !slowly.isWhole();
  const result = judge(check, [{ ...answer, label: '', ms: Math.max(0, answer.ms - slowly.ms) }]);
  if (!early)
    return isHeldUp && result.ok ? { ...result, notice: 'one slow sender blocks all others' } : result;
  const finding = `responded with ${answer.status} before the whole body had arrived: ${check.advice}`;
  return { ...result, ok: false, finding };
}

function writeSlowly(raw: Buffer, { clock, signal }: DrillRun) {
  let isWhole = false;
  const size = Math.ceil(raw.byteLength / PIECES);
  const pieces = Array.from({ length: PIECES }, (_, at) => raw.subarray(at * size, (at + 1) * size));
  const write = async (request: ClientRequest) => {
    for (const piece of pieces) {
      await clock.sleep(BETWEEN_PIECES_MS, signal);
      if (request.destroyed) return;
      isWhole = piece === pieces.at(-1);
      request.write(piece);
    }
    request.end();
  };
  return {
    ms: PIECES * BETWEEN_PIECES_MS,
    isWhole: () => isWhole,
    write: (request: ClientRequest) => void write(request).catch(() => request.destroy()),
  };
}

/** Sends a request and waits for the response. The time limit is longer for a slow request. */
async function send(
  request: DrillRequest,
  { url, clock, signal }: DrillRun,
  write?: (request: ClientRequest) => void,
): Promise<ResponseOutcome> {
  const tooLate = new AbortController();
  const timeoutMs = DRILL_TIMEOUT_MS + (write === undefined ? 0 : PIECES * BETWEEN_PIECES_MS);
  const over = AbortSignal.any([signal, tooLate.signal]);
  const answer = postOnce({ url, ...request }, { timeoutMs: 2 * timeoutMs, clock, signal: over, write });
  const ended = new AbortController();
  const late = clock.sleep(timeoutMs, ended.signal).then(
    () => ({ status: null, ms: timeoutMs, error: TIMED_OUT }),
    () => answer,
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    ended.abort();
    tooLate.abort();
  }
}

function judge(check: DrillCheck, answers: readonly Answered[]): CheckResult {
  const { name, expects, acceptedNotice } = check;
  const wrong = answers.find((one) => !isExpected(expects, one));
  const answer = wrong ?? answers.reduce((a, b) => (b.ms > a.ms ? b : a));
  const { label, status, ms } = answer;
  if (wrong !== undefined) {
    const finding = `${label === '' ? '' : `${label}: `}${describeResponse(answer)}; ${adviceFor(check, answer)}`;
    return { check: name, ok: false, status, ms, finding };
  }
  const notice = expects === 'either' && isAccepted(status) ? acceptedNotice : undefined;
  return { check: name, ok: true, status, ms, finding: null, ...(notice === undefined ? {} : { notice }) };
}

function isExpected(expects: DrillCheck['expects'], { status }: ResponseOutcome): boolean {
  if (expects === 'accepted') return isAccepted(status);
  const isRefused = status !== null && status >= 400 && status < 500;
  return isRefused || (expects === 'either' && isAccepted(status));
}

function isAccepted(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** Describes the response to a delivery. */
export function describeResponse({ status, error }: Pick<ResponseOutcome, 'status' | 'error'>): string {
  if (status === null) return WORDS[error ?? ''] ?? error ?? 'no response';
  if (isAccepted(status)) return `accepted (${status})`;
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
