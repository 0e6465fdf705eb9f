import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import type { ListenEvent, ListenerOptions } from '../../src/webhooks/listen-event.ts';
import { listen } from '../../src/webhooks/listener.ts';
import { portOf } from '../support/server.ts';
import { payload, post } from '../support/webhooks.ts';

let folder: string;
let over: AbortController;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-listener-'));
  over = new AbortController();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const options = (): ListenerOptions => ({
  host: '127.0.0.1',
  port: 0,
  path: '/webhooks',
  signatureHeader: 'x-service-signature',
  secretsFor: () => Promise.resolve({ secrets: [], others: [] }),
  verify: false,
  clock: systemClock,
  eventsFolder: join(folder, 'events'),
  forwardsFolder: join(folder, 'forwards'),
  events: undefined,
  forwardTo: [],
  forwardTimeoutMs: 5_000,
  drainMs: 1_000,
  keepMs: undefined,
  tunnel: undefined,
  inspect: undefined,
  health: undefined,
});

/** All its events; the handler of one may stop it. */
async function eventsOf(
  wanted: ListenerOptions,
  react: (event: ListenEvent) => unknown,
): Promise<ListenEvent[]> {
  const seen: ListenEvent[] = [];
  for await (const event of listen(wanted, over.signal)) {
    seen.push(event);
    await react(event);
  }
  return seen;
}

describe('a listener', () => {
  it('yields ready, each delivery, each forwarding attempt, and finally a summary', async () => {
    const app = createServer((request, response) => {
      request.resume().on('end', () => response.end());
    });
    await new Promise<void>((resolve) => {
      app.listen(0, '127.0.0.1', resolve);
    });
    const to = `http://127.0.0.1:${portOf(app)}/`;
    const events = new Set(['envelope.sent']);
    const seen = await eventsOf({ ...options(), forwardTo: [to], events }, async (event) => {
      if (event.type === 'ready') {
        for (const name of ['envelope.viewed', 'envelope.sent'])
          expect(await post(event.url, payload('env_1', name))).toBe(200);
        expect(await post(event.url, 'no json')).toBe(400);
      }
      if (event.type === 'forward') over.abort();
    });
    app.close();
    const deliveries = seen.flatMap((event) => (event.type === 'delivery' ? [event.delivery] : []));
    expect(deliveries).toMatchObject([
      { event: 'envelope.sent', answer: 200 },
      { id: '', event: null, answer: 400 },
    ]);
    expect(seen.filter(({ type }) => type !== 'delivery')).toMatchObject([
      { type: 'ready', verify: false, inspectorUrl: undefined },
      { type: 'forward', result: { event: 'envelope.sent', envelopeId: 'env_1', error: null, nextMs: null } },
      { type: 'summary', received: 3, verified: 0, refused: 1, duplicates: 0 },
    ]);
  });

  it("stops without an event if its journal can't be written", async () => {
    await writeFile(join(folder, 'events'), '');
    await expect(eventsOf(options(), () => undefined)).rejects.toMatchObject({ code: 'USAGE' });
  });

  it('ends with the error of its tunnel, after the summary', async () => {
    const seen: string[] = [];
    const stop = join(folder, 'stop');
    const tunnel = `echo https://odd-words.example.com; while [ ! -e ${stop} ]; do sleep 0.05; done; exit 4`;
    const run = eventsOf({ ...options(), tunnel }, async ({ type }) => {
      seen.push(type);
      if (type === 'tunnel') await writeFile(stop, '');
    });
    await expect(run).rejects.toMatchObject({ code: 'NETWORK' });
    expect(seen).toEqual(['ready', 'tunnel', 'summary']);
  });

  it('is closed when its events are no longer read', async () => {
    let url = '';
    for await (const event of listen(options(), over.signal)) {
      if (event.type === 'ready') url = event.url;
      break;
    }
    await expect(post(url, payload('env_1'))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
