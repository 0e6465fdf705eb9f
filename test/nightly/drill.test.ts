import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { DRILL_CHECKS } from '../../src/webhooks/drill/checks.ts';
import { type CheckResult, drill } from '../../src/webhooks/drill/drill.ts';
import { DRILL_SECRET, FAULTY, GOOD, receiver, serve } from '../support/receivers.ts';
import { portOf } from '../support/server.ts';

const CHECKS = DRILL_CHECKS.map(({ name }) => name);

/** Waits much longer for a response before the next check, which would otherwise begin too early on a slow machine. */
const patientClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms === BETWEEN_PIECES_MS ? ms : 100 * ms, signal),
};
/** The pause in a slow request, which is as long as usual. */
const BETWEEN_PIECES_MS = 200;

async function drillAt(url: string, clock = patientClock): Promise<CheckResult[]> {
  const { signal } = new AbortController();
  const results: CheckResult[] = [];
  for await (const one of drill({ url, secret: DRILL_SECRET, clock, signal })) results.push(one);
  return results;
}

async function findings(steps: Parameters<typeof receiver>[0], clock?: Clock) {
  const { url, close } = await serve(receiver(steps));
  const results = await drillAt(url, clock).finally(() => void close());
  expect(results.map(({ check }) => check)).toEqual(CHECKS);
  return results;
}

const names = (results: readonly CheckResult[]) => results.filter(({ ok }) => !ok).map(({ check }) => check);

describe('a drill', () => {
  it.concurrent.each(FAULTY)(
    'reports by its checks a receiver that $fault',
    async ({ steps, named, isLate }) => {
      const results = await findings(steps, isLate ? systemClock : undefined);
      expect(names(results)).toEqual(named);
      for (const { ok, finding } of results) expect(ok).toBe(finding === null);
    },
  );

  it.concurrent.each(GOOD)('reports no failure of a correct receiver: $kind', async ({ steps }) => {
    expect(names(await findings(steps))).toEqual([]);
  });

  it.concurrent('waits for missing responses at the same time, and so takes seconds and not a minute', async () => {
    const { url, close } = await serve((request) => request.resume());
    const started = performance.now();
    const results = await drillAt(url, systemClock).finally(() => void close());
    // One after the other, they would take 5 seconds each.
    expect(performance.now() - started).toBeLessThan((CHECKS.length / 2) * 5_000);
    expect(results).toMatchObject(
      CHECKS.map((check) => ({ check, ok: false, status: null, finding: /^.*no response within 5 s; / })).map(
        ({ finding, ...rest }) => ({ ...rest, finding: expect.stringMatching(finding) as unknown }),
      ),
    );
  });

  it.concurrent('sends a body of exactly 1 MiB', async () => {
    const sizes: number[] = [];
    await findings({
      take: (_, raw) => {
        sizes.push(raw.byteLength);
        return 200;
      },
    });
    expect(Math.max(...sizes)).toBe(1024 * 1024);
  });

  it.concurrent('reports receivers that accept uppercase or process sequentially, but only as information', async () => {
    const lenient = await findings(GOOD[1]?.steps);
    expect(lenient.find(({ check }) => check === 'upper-case-signature')).toMatchObject({
      ok: true,
      finding: null,
      notice: expect.stringContaining('uppercase hex') as unknown,
    });
    expect(lenient.filter(({ notice }) => notice !== undefined)).toHaveLength(1);
  });

  it.concurrent('names the first fix if even the valid delivery is refused', async () => {
    const results = await findings({ trusts: () => false });
    expect(results.filter(({ ok }) => !ok).slice(0, 2)).toMatchObject([
      {
        check: 'good',
        finding: expect.stringMatching(/^envelope\.sent: refused \(401\)/) as unknown,
      },
      { check: 'repeated', finding: expect.stringMatching(/^refused \(401\), .*first/) as unknown },
    ]);
  });

  it.concurrent('reports that a receiver is gone after an event ended it', async () => {
    const { url, close } = await serve(
      receiver({
        take: (body) => {
          if (body.event === 'envelope.drilled') void close();
          return 200;
        },
      }),
    );
    const results = await drillAt(url);
    expect(names(results)).toEqual(CHECKS.slice(CHECKS.indexOf('unknown-event')));
    expect(results.at(-1)?.finding).toContain('stopped listening');
  });

  it('fails if nothing is listening', async () => {
    const message = 'No response from http://127.0.0.1:9/hooks: connection refused.';
    await expect(drillAt('http://127.0.0.1:9/hooks?token=x')).rejects.toMatchObject({
      code: 'NETWORK',
      message,
    });
  });

  it('fails if the receiver is not a web server', async () => {
    const server = createServer((socket) => socket.end('220 mail.example.com ESMTP\r\n'));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const port = portOf(server);
    await expect(drillAt(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      code: 'NETWORK',
      message: expect.stringContaining("it isn't an HTTP server") as unknown,
    });
    server.close();
  });
});
