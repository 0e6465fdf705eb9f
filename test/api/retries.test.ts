import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HttpRequest, SendRequest } from '../../src/api/http.ts';
import { type RetryOptions, withRetries } from '../../src/api/retries.ts';
import { BadResponseError, NetworkError, ServiceError } from '../../src/kernel/errors.ts';
import { fakeClock } from '../support/clock.ts';

const lost = new NetworkError('NETWORK', 'lost', { maybeReceived: true });
const refused = new NetworkError('NETWORK', 'refused', { maybeReceived: false });
const broken = new ServiceError('INTERNAL_ERROR', 'broken', { status: 500 });
const gateway = new BadResponseError('502', { status: 502 });
const limited = (resetAt?: number, retryAfterMs?: number) =>
  new ServiceError('RATE_LIMITED', 'too many', { status: 429, resetAt, retryAfterMs });

/** Fails with the given errors in turn, then succeeds. */
async function run(method: HttpRequest['method'], errors: Error[], options: Partial<RetryOptions> = {}) {
  const clock = fakeClock();
  let calls = 0;
  const send: SendRequest = () => {
    const error = errors[calls++];
    if (error) return Promise.reject(error);
    return Promise.resolve({
      status: 200,
      body: 'ok',
      rate: { limit: 1, remaining: 1, resetAt: 1, retryAfterMs: undefined },
    });
  };
  const retrying = withRetries(send, {
    clock,
    random: options.random ?? (() => 0.5),
    retries: 4,
    maxWaitMs: options.maxWaitMs ?? 60_000,
    onWait: options.onWait,
  });
  const outcome = await retrying({ method, path: '/' }).then(
    () => 'ok',
    (error: unknown) => error,
  );
  return { outcome, calls, slept: clock.slept, clock };
}

describe('retries', () => {
  it.each([
    ['GET', lost],
    ['GET', refused],
    ['GET', broken],
    ['GET', gateway],
    ['GET', limited()],
    ['POST', refused],
    ['POST', limited()],
  ] as const)('repeat %s after: %s', async (method, error) => {
    expect(await run(method, [error, error])).toMatchObject({ outcome: 'ok', calls: 3 });
  });

  it.each([
    ['POST', lost],
    ['POST', broken],
    ['POST', gateway],
    ['GET', new ServiceError('NOT_FOUND', 'no', { status: 404 })],
    ['GET', new ServiceError('UNAUTHORIZED', 'no', { status: 401 })],
    ['GET', new BadResponseError('login page', { status: 200 })],
    ['GET', new ServiceError('ODD', 'no', { status: 499 })],
    ['GET', new Error('a mistake here')],
    ['GET', Object.assign(new Error('a mistake here'), { status: 500 })],
  ] as const)('never repeat %s after: %s', async (method, error) => {
    expect(await run(method, [error])).toMatchObject({ outcome: error, calls: 1 });
  });

  it('stop after four, with the last error', async () => {
    expect(await run('GET', [lost, lost, lost, lost, broken])).toMatchObject({ outcome: broken, calls: 5 });
  });

  it.each([
    ['two more if each timed out', new NetworkError('TIMEOUT', 'x', { maybeReceived: true }), 3],
    ['three more if nothing is listening', refused, 4],
    [
      'one if waiting changes nothing',
      new NetworkError('NETWORK', 'x', { maybeReceived: false, isLasting: true }),
      1,
    ],
  ])('stop after %s', async (_, error, calls) => {
    expect(
      await run(
        'GET',
        Array.from({ length: 9 }, () => error),
      ),
    ).toMatchObject({ outcome: error, calls });
  });

  it('wait longer each time, with jitter, up to the cap', async () => {
    await fc.assert(
      fc.asyncProperty(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), async (random) => {
        const { slept } = await run('GET', [lost, lost, lost, lost], { random: () => random });
        expect(slept).toHaveLength(4);
        for (const [i, ms] of slept.entries()) {
          const full = Math.min(8_000, 250 * 2 ** i);
          expect(ms).toBeGreaterThanOrEqual(full / 2);
          expect(ms).toBeLessThanOrEqual(full);
        }
      }),
    );
  });

  it('wait at least until the rate window resets', async () => {
    const reset = fakeClock().now() + 3_000;
    const { slept, outcome, clock } = await run('GET', [limited(reset)]);
    expect(outcome).toBe('ok');
    expect(slept).toHaveLength(1);
    expect(clock.now()).toBeGreaterThan(reset);
  });

  it('honor Retry-After of a gateway that is overloaded, unless it is too long', async () => {
    const overloaded = (retryAfterMs: number) => new BadResponseError('503', { status: 503, retryAfterMs });
    expect((await run('GET', [overloaded(2_000)])).slept).toEqual([2_000]);
    expect((await run('GET', [overloaded(600_000)])).slept).toEqual([187.5]);
    expect((await run('POST', [overloaded(2_000)])).calls).toBe(1);
  });

  it('honor Retry-After even if the window resets much later', async () => {
    const { slept } = await run('GET', [limited(fakeClock().now() + 780_000, 2_000)]);
    expect(slept).toEqual([2_000]);
  });

  it('honor Retry-After if it is longer', async () => {
    const { slept } = await run('POST', [limited(fakeClock().now() + 1_000, 5_000)]);
    expect(slept).toEqual([5_000]);
  });

  it('use the usual backoff if the service gives no time', async () => {
    expect((await run('GET', [limited(), limited()])).slept).toEqual([250, 375]);
  });

  it('wait at least 250 ms, even if the reset has passed', async () => {
    expect((await run('GET', [limited(fakeClock().now() - 60_000)])).slept).toEqual([250]);
  });

  it('wait exactly as long as allowed', async () => {
    expect(await run('GET', [limited(undefined, 60_000)])).toMatchObject({ outcome: 'ok', slept: [60_000] });
    expect(await run('GET', [limited(undefined, 60_001)])).toMatchObject({ calls: 1, slept: [] });
  });

  it('are reported before each wait, with the error', async () => {
    const waits: unknown[] = [];
    await run('GET', [lost, broken], { onWait: (wait) => waits.push(wait) });
    expect(waits).toEqual([
      { ms: 187.5, error: lost },
      { ms: 375, error: broken },
    ]);
  });

  it('report a wait that is too long instead of waiting', async () => {
    const error = limited(fakeClock().now() + 900_000);
    expect(await run('GET', [error])).toMatchObject({ outcome: error, calls: 1, slept: [] });
  });
});
