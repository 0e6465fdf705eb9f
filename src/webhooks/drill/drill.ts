import type { ClientRequest } from 'node:http';
import type { Clock } from '../../kernel/clock.ts';
import { NetworkError } from '../../kernel/errors.ts';
import { CERTIFICATE, NEVER_SENT } from '../../kernel/network/unreachable.ts';
import { type Answer, postOnce, shownUrl } from '../forward/send.ts';
import { type Check, type DrillRequest, drillChecks } from './checks.ts';

export interface CheckResult {
  check: string;
  ok: boolean;
  /** What the receiver answered; null when it did not. */
  status: number | null;
  ms: number;
  /** What it did wrong, and what to mend. */
  finding: string | null;
  /** What is no fault, but worth to know. */
  notice?: string;
}

export interface DrillRun {
  url: string;
  secret: string;
  events: readonly string[];
  clock: Clock;
  signal: AbortSignal;
}

/** How long each answer is waited for. */
const ANSWERED_WITHIN_MS = 5_000;
const TOO_LATE = `no answer within ${ANSWERED_WITHIN_MS / 1_000} s`;
/** A receiver that takes longer gets the next one nevertheless: ten seconds must do for all. */
const NEXT_AFTER_MS = 120;
/** A repeat comes after the one that it repeats was answered, where that does not take long. */
const REPEAT_AFTER_MS = 700;
/** How a slow sender sends. */
const PIECES = 5;
const BETWEEN_PIECES_MS = 200;

/**
 * Sends a receiver what it must stand, and yields what it did with each, in order.
 * @throws NetworkError when nobody listens there.
 */
export async function* drill(run: DrillRun): AsyncGenerator<CheckResult, void, undefined> {
  const left = new AbortController();
  const signal = AbortSignal.any([run.signal, left.signal]);
  const { clock } = run;
  let mayStart: Promise<unknown> = Promise.resolve();
  const results = drillChecks({ ...run, now: clock.now() }).map((check) => {
    const result = mayStart.then(() => checkOne(check, { ...run, signal }));
    const pause = check.name === 'good' ? REPEAT_AFTER_MS : NEXT_AFTER_MS;
    mayStart = mayStart.then(() => within(result, pause, clock));
    return result;
  });
  for (const result of results) result.catch(() => undefined);
  mayStart.catch(() => undefined);
  try {
    let good: CheckResult | undefined;
    for (const result of results) {
      const done = await result;
      run.signal.throwIfAborted();
      yield good === undefined ? done : besideGood(done, good);
      good ??= done;
    }
  } finally {
    left.abort();
  }
}

/** What fails as the good one failed has no reason of its own. */
function besideGood(result: CheckResult, good: CheckResult): CheckResult {
  const { ok, status, finding } = result;
  if (ok || finding === null || good.ok || status === null || status !== good.status) return result;
  return { ...result, finding: `${finding.replace(/; .*/, '')}, as it did the good one: mend that first` };
}

async function checkOne(check: Check, run: DrillRun): Promise<CheckResult> {
  run.signal.throwIfAborted();
  if (check.isSlow) return checkSlow(check, run);
  const answers = await (check.inOrder ? inOrder(check.requests, run) : atOnce(check.requests, run));
  // Who stops it knows that nothing was answered.
  run.signal.throwIfAborted();
  if (check.name === 'good' && answers.every(({ answer }) => isUnreachable(answer)))
    throw unreachable(run.url, answers[0]?.answer.error ?? '');
  return judge(check, answers);
}

interface Answered {
  label: string;
  answer: Answer;
}

function atOnce(requests: readonly DrillRequest[], run: DrillRun): Promise<Answered[]> {
  return Promise.all(requests.map(async (one) => ({ label: one.label, answer: await send(one, run) })));
}

async function inOrder(requests: readonly DrillRequest[], run: DrillRun): Promise<Answered[]> {
  const answers: Promise<Answered[]>[] = [];
  for (const one of requests) {
    const answer = atOnce([one], run);
    answers.push(answer);
    await within(answer, NEXT_AFTER_MS, run.clock);
  }
  return (await Promise.all(answers)).flat();
}

/** One that comes in pieces, and beside it a good one: does the first hold up the second? */
async function checkSlow(check: Check, run: DrillRun): Promise<CheckResult> {
  const [slow, beside] = check.requests;
  if (slow === undefined || beside === undefined) throw new Error('a slow check has two requests');
  const slowly = writeSlowly(slow.raw, run);
  const [answer, isHeldUp] = await Promise.all([
    send(slow, run, slowly.write),
    run.clock
      .sleep(BETWEEN_PIECES_MS, run.signal)
      .then(() => send(beside, run))
      .then(() => slowly.isWhole()),
  ]);
  const early = answer.status !== null && !slowly.isWhole();
  const result = judge(check, [{ label: '', answer: { ...answer, ms: Math.max(0, answer.ms - slowly.ms) } }]);
  if (!early)
    return isHeldUp && result.ok ? { ...result, notice: 'one slow sender holds up all others' } : result;
  const finding = `answered ${answer.status} before it had the whole body: ${check.advice}`;
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

/** Waits for the answer so long as a receiver may take; while it is written slowly, longer by that. */
async function send(
  request: DrillRequest,
  { url, clock, signal }: DrillRun,
  write?: (request: ClientRequest) => void,
): Promise<Answer> {
  const tooLate = new AbortController();
  const timeoutMs = ANSWERED_WITHIN_MS + (write === undefined ? 0 : PIECES * BETWEEN_PIECES_MS);
  const over = AbortSignal.any([signal, tooLate.signal]);
  const answer = postOnce({ url, ...request }, { timeoutMs: 2 * timeoutMs, clock, signal: over, write });
  const ended = new AbortController();
  const late = clock.sleep(timeoutMs, ended.signal).then(
    () => ({ status: null, ms: timeoutMs, error: TOO_LATE }),
    () => answer,
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    ended.abort();
    tooLate.abort();
  }
}

function judge({ name, wants, advice }: Check, answers: readonly Answered[]): CheckResult {
  const wrong = answers.find(({ answer }) => !isAsWanted(wants, answer));
  const slowest = answers.reduce((a, b) => (b.answer.ms > a.answer.ms ? b : a));
  const { label, answer } = wrong ?? slowest;
  const { status, ms } = answer;
  if (wrong !== undefined) {
    const finding = `${label === '' ? '' : `${label}: `}${whatItDid(answer)}; ${reason(name, answer) ?? advice}`;
    return { check: name, ok: false, status, ms, finding };
  }
  const isLenient = wants === 'either' && isTaken(status);
  const notice = isLenient ? 'it takes upper-case hex, which the service never sends' : undefined;
  return { check: name, ok: true, status, ms, finding: null, ...(notice === undefined ? {} : { notice }) };
}

function isAsWanted(wants: Check['wants'], { status }: Answer): boolean {
  if (wants === 'taken') return isTaken(status);
  const isRefused = status !== null && status >= 400 && status < 500;
  return isRefused || (wants === 'either' && isTaken(status));
}

function isTaken(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** What it did with a delivery, in words. */
export function whatItDid({ status, error }: Pick<Answer, 'status' | 'error'>): string {
  if (status === null) return WORDS[error ?? ''] ?? error ?? 'did not answer';
  if (isTaken(status)) return `took it (${status})`;
  if (status >= 500) return `broke on it (${status})`;
  return status >= 400 ? `refused it (${status})` : `answered ${status}`;
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNRESET: 'cut the connection without an answer',
  EPIPE: 'cut the connection without an answer',
  ECONNREFUSED: 'was gone: nobody listens any more',
};

/** A closer guess than the check's own advice, where the answer allows one. */
function reason(name: string, { status, error }: Answer): string | undefined {
  if (error === TOO_LATE) return 'answer first, and do the work after that';
  if (name !== 'good') return undefined;
  if (status === 401 || status === 403)
    return 'it has another secret, or checks the signature over other bytes than the raw body';
  if (status === 404 || status === 405) return 'it takes no webhooks at this path';
  return undefined;
}

/** True when the request never got to a web server. What was cut off or took too long did. */
function isUnreachable({ status, error }: Answer): boolean {
  return status === null && error !== TOO_LATE && !/^(?:ECONNRESET|EPIPE)$/.test(error ?? '');
}

function unreachable(url: string, error: string): NetworkError {
  const isNotHttp = error.startsWith('HPE_');
  const why =
    NEVER_SENT.get(error) ?? CERTIFICATE.get(error) ?? (isNotHttp ? 'it does not speak HTTP' : error);
  return new NetworkError('NETWORK', `Nobody answers at ${shownUrl(url)}: ${why}.`, {
    maybeReceived: false,
    hint: 'Start your application, check the address, and run it again.',
  });
}

/** Waits for it, but not longer. */
async function within(work: Promise<unknown>, ms: number, clock: Clock): Promise<void> {
  const done = new AbortController();
  await Promise.race([work.catch(() => undefined), clock.sleep(ms, done.signal).catch(() => undefined)]);
  done.abort();
}
