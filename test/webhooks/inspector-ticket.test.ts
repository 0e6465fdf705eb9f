import { request } from 'undici';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { createRedactor } from '../../src/kernel/redaction.ts';
import { type Inspector, startInspector } from '../../src/webhooks/inspector/server.ts';

let inspector: Inspector | undefined;
afterEach(() => inspector?.close());

async function* none() {}

it('accepts the link in the arguments of a browser once, and only for navigation by the started browser', async () => {
  inspector = await startInspector({
    ...{
      port: 0,
      earlier: none(),
      clock: systemClock,
      redactor: createRedactor(),
      targets: [],
      timeoutMs: 1_000,
    },
    onReplay: () => undefined,
    signatureHeader: 'x-service-signature',
    verify: true,
  });
  const link = inspector.ticketUrl();
  const open = async (headers: Record<string, string>) => {
    const reply = await request(link, { headers });
    await reply.body.dump();
    return { status: reply.statusCode, to: reply.headers.location };
  };
  const navigation = { 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none' };
  for (const headers of [
    {},
    { ...navigation, 'sec-fetch-dest': 'empty' },
    { ...navigation, 'sec-fetch-site': 'cross-site' },
  ])
    expect(await open(headers)).toEqual({ status: 403, to: undefined });
  expect(await open(navigation)).toEqual({ status: 302, to: new URL(inspector.url).pathname });
  expect((await open(navigation)).status).toBe(403);
});
