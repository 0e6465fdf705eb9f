import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { readEvents } from '../../src/webhooks/journal/event-journal.ts';
import type { EventRecord } from '../../src/webhooks/journal/record.ts';
import { sign } from '../../src/webhooks/receive/signature.ts';
import { Home } from '../support/cli.ts';
import { seeded } from '../support/faulty-proxy.ts';

const SEED = Number(process.env.FAULT_SEED ?? Date.now() % 2 ** 32);
const KILLS = Number(process.env.LISTEN_KILLS ?? 3);
const SENDERS = 24;
const SECRET = 'canary-secret-0123456789';

const home = new Home({ ESIGN_WEBHOOK_SECRET: SECRET });
afterAll(() => home.close());
const random = seeded(SEED);

/** What was sent, as bytes, and the sender's response; null without a response. */
interface Sent {
  body: Buffer;
  answer: number | null;
}
const sent = new Map<string, Sent>();
const keyOf = (body: Buffer) => body.toString('base64');

/** JSON of any length, with odd spacing and other scripts; every fifth body is neither JSON nor UTF-8. */
function nextBody(): Buffer {
  const n = sent.size;
  const filler = 'é🖋\u0000'.repeat(Math.floor(random() * random() * 300));
  const json = Buffer.from(
    `{"event":"envelope.sent",  "n":${n}, "data":{"envelopeId":"env_${n % 50}", "x":${JSON.stringify(filler)}}}\n`,
  );
  return n % 5 === 4 ? Buffer.concat([json, Buffer.from([0xc3, 0x28, 0x00, 0xff]), randomBytes(8)]) : json;
}

function post(url: string, body: Buffer, agent: Agent): Promise<number | null> {
  return new Promise((resolve) => {
    const headers = { 'X-Service-Signature': sign(body, SECRET), 'Content-Length': body.length };
    const sending = request(url, { method: 'POST', headers, agent }, (response) => {
      // A status line counts as a response, even if the rest is truncated.
      response.resume().on('error', () => undefined);
      response.on('close', () => resolve(response.statusCode ?? null));
    });
    sending.on('error', () => resolve(null)).end(body);
  });
}

/** Sends over many connections until the listener is gone; kills it in between. */
async function round(): Promise<void> {
  const listening = home.start`listen --port 0 --json --events declined`;
  const url = String((await listening.object()).url);
  const agent = new Agent({ keepAlive: true });
  const wanted = 100 + random() * 600;
  let [answered, alive] = [0, true];
  const sender = async () => {
    while (alive) {
      const one: Sent = { body: nextBody(), answer: null };
      sent.set(keyOf(one.body), one);
      one.answer = await post(url, one.body, agent);
      if (one.answer === null) alive = false;
      else if (++answered > wanted) listening.child.kill('SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  await listening.stop('SIGKILL');
  agent.destroy();
}

describe('a listener that is killed repeatedly under load', () => {
  it('has each acknowledged delivery in its journal, byte for byte, once, and nothing else', {
    timeout: 300_000,
  }, async () => {
    process.stdout.write(`listen kills: FAULT_SEED=${SEED} LISTEN_KILLS=${KILLS}\n`);
    for (let kill = 0; kill < KILLS; kill++) await round();
    const kept = new Map<string, EventRecord[]>();
    for await (const record of readEvents(home.path('state', 'events')))
      kept.set(record.bodyBase64, [...(kept.get(record.bodyBase64) ?? []), record]);
    const all = [...sent.values()];
    const answered = all.filter(({ answer }) => answer !== null);
    const lost = answered.filter(({ body }) => !kept.has(keyOf(body)));
    const invented = [...kept.keys()].filter((key) => !sent.has(key));
    process.stdout.write(
      `listen kills: ${all.length} sent, ${answered.length} answered, ${kept.size} kept, ${lost.length} lost, ${invented.length} invented\n`,
    );
    expect([lost, invented]).toEqual([[], []]);
    expect([...kept.values()].filter((records) => records.length > 1)).toEqual([]);
    const expected = (one: Sent) => [one.answer, one.body.length, true];
    expect(
      answered.map(({ body }) => {
        const record = kept.get(keyOf(body))?.[0];
        return [record?.answer, record?.bytes, record?.verified];
      }),
    ).toEqual(answered.map(expected));
    expect(new Set(answered.map(({ answer }) => answer))).toEqual(new Set([200, 400]));
    expect(answered.length).toBeGreaterThan(KILLS * 100);
    // Incomplete lines of the last kill are skipped, and the next listener recognizes the duplicates.
    const again = home.start`listen --port 0 --json`;
    const { url } = await again.object();
    const repeat = answered.find(({ answer }) => answer === 200);
    const agent = new Agent();
    expect(await post(String(url), repeat?.body ?? Buffer.alloc(0), agent)).toBe(200);
    expect(await again.object()).toMatchObject({ duplicate: true });
    await again.stop();
  });
});
