import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { DRILL_CHECKS } from '../../src/webhooks/drill/checks.ts';
import { type CheckResult, drill } from '../../src/webhooks/drill/drill.ts';
import { DRILL_SECRET, FAULTY, GOOD, receiver, serve } from '../support/receivers.ts';
import { portOf } from '../support/server.ts';

const CHECKS = DRILL_CHECKS.map(({ name }) => name);

async function drillAt(url: string): Promise<CheckResult[]> {
  const { signal } = new AbortController();
  const clock = systemClock;
  const results: CheckResult[] = [];
  for await (const one of drill({ url, secret: DRILL_SECRET, clock, signal })) results.push(one);
  return results;
}

async function findings(steps: Parameters<typeof receiver>[0]) {
  const { url, close } = await serve(receiver(steps));
  const results = await drillAt(url).finally(() => void close());
  expect(results.map(({ check }) => check)).toEqual(results[0]?.ok ? CHECKS : ['good']);
  return results;
}

const names = (results: readonly CheckResult[]) => results.filter(({ ok }) => !ok).map(({ check }) => check);

describe('a drill', () => {
  it.concurrent.each(FAULTY)('reports by its checks a receiver that $fault', async ({ steps, named }) => {
    const results = await findings(steps);
    expect(names(results)).toEqual(named);
    for (const { ok, finding } of results) expect(ok).toBe(finding === null);
  });

  it.concurrent.each(GOOD)('reports no failure of a correct receiver: $kind', async ({ steps }) => {
    expect(names(await findings(steps))).toEqual([]);
  });

  it.concurrent('waits five seconds for a response, and then checks nothing else', async () => {
    const { url, close } = await serve((request) => request.resume());
    const results = await drillAt(url).finally(() => void close());
    const finding: unknown = expect.stringContaining('no response within 5 s; respond first');
    expect(results).toMatchObject([{ check: 'good', ok: false, status: null, finding }]);
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
