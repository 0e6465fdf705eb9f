import { rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { Home, type LongRunning, linesOf } from '../support/cli.ts';

const SECRET = 'canary-secret-0123456789';
const home = new Home({ ESIGN_WEBHOOK_SECRET: SECRET });
let listening: LongRunning;
let url: string;

beforeAll(async () => {
  await home.sandbox();
  await writeFile(home.path('secret'), SECRET);
});
afterAll(() => home.close());
beforeEach(async () => {
  await home.run`sandbox reset --yes`;
  await rm(home.path('state', 'events'), { recursive: true, force: true });
});

async function listen(port = '0'): Promise<void> {
  listening = home.background`listen --port ${port} --json`;
  url = String((await listening.object()).url);
}
const create = async (...more: string[]) => {
  const words = ['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'Ada <ada@example.com>'];
  return String((await home.object`${words} --webhook-url ${url} --webhook-secret-file secret ${more}`).id);
};
/** Waits until the listener has shown this many. */
const received = async (count: number) => {
  for (let n = 0; n < count; n++) expect((await listening.object()).type).toBe('delivery');
};
async function gaps(...more: string[]) {
  const { code, stdout, stderr } = await home.run([
    'events',
    'gaps',
    '--json',
    ...(more.length > 0 ? more : ['--grace', '0s']),
  ]);
  const list = parseJson(stdout);
  return { code, stderr, list: isList(list) ? list.filter(isRecord) : [] };
}

describe('events gaps', () => {
  it('finds nothing if there was an event for every change', async () => {
    await listen();
    const signed = await create('--send');
    await create();
    await home.run`sandbox sign ${signed}`;
    await received(4);
    const cancelled = await create('--send');
    await home.run`envelopes cancel ${cancelled} --yes`;
    await received(2);
    await listening.stop();
    expect(await gaps()).toEqual({ code: 0, stderr: '', list: [] });
  });

  it("lists missed changes while nothing was listening, and events that don't match", async () => {
    await listen();
    const first = await create('--send');
    const second = await create('--send');
    await received(2);
    const trigger = (event: string, envelope: string) =>
      home.run`events trigger ${event} --to ${url} --secret-file secret --envelope ${envelope}`;
    await trigger('completed', second);
    await trigger('signed', second);
    await trigger('sent', 'env_madeup');
    await listening.stop();
    await home.run`sandbox sign ${first}`;
    const third = await create('--send');
    await home.run`envelopes cancel ${third} --yes`;
    const fourth = await create('--send', '--expires-in-days', '3');
    await home.run`sandbox advance 4d`;
    const { code, stderr, list } = await gaps();
    expect(code).toBe(10);
    expect(stderr).toMatch(/"code":"PARTIAL".*9 gaps in 4 envelopes/);
    const shown = list.map((one) => [one.kind, one.envelopeId, one.event].join(' ')).toSorted();
    expect(shown).toEqual(
      [
        `missing ${first} envelope.signed`,
        `missing ${first} envelope.completed`,
        `missing ${third} envelope.sent`,
        `missing ${third} envelope.cancelled`,
        `missing ${fourth} envelope.sent`,
        `missing ${fourth} envelope.expired`,
        `contradicted ${second} envelope.completed`,
        `contradicted ${second} envelope.signed`,
        'unknown env_madeup envelope.sent',
      ].toSorted(),
    );
    expect(list.find(({ kind, event }) => kind === 'missing' && event === 'envelope.signed')).toMatchObject({
      signer: 'ada@example.com',
      status: 'COMPLETED',
      deliveryId: null,
      why: expect.stringMatching(/envelope\.signed .*ada@example\.com/) as unknown,
    });
    const ids = linesOf((await home.run`events gaps --grace 0s -q`).stdout);
    expect(ids).toHaveLength(9);
    const elsewhere = await gaps('--grace', '0s', '--webhook-url', 'https://elsewhere.example/');
    expect(elsewhere.list.map(({ kind }) => kind)).toEqual(['unknown']);
    // The latest changes may still be on their way.
    expect((await gaps('--grace', '10m')).list.filter(({ event }) => event === 'envelope.completed')).toEqual(
      [expect.objectContaining({ kind: 'contradicted' })],
    );
  });

  it('handles lists with few fields, with a GET for each possible change', async () => {
    await home.run`sandbox choices list-items=summary`;
    await listen();
    const first = await create('--send');
    await received(1);
    await listening.stop();
    await home.run`sandbox sign ${first}`;
    expect((await gaps()).list.map(({ event }) => event).toSorted()).toEqual([
      'envelope.completed',
      'envelope.signed',
    ]);
  });

  it('requires a key, and shows what it compares', async () => {
    const other = new Home();
    expect((await other.run`events gaps --json`).code).toBe(3);
    await other.close();
  });
});
