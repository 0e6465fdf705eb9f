import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isList, isRecord } from '../../src/kernel/json.ts';
import { Home, type LongRunning, linesOf } from '../support/cli.ts';

const SECRET = 'canary-secret-0123456789';
const DAY = 86_400_000;
let home: Home;
let listening: LongRunning;
let url: string;

const create = async (...more: string[]) => {
  const words = ['envelopes', 'create', '--template', 'tmpl_nda', '--send', ...more];
  return String((await home.object`${words}`).id);
};
const webhooks = () => ['--webhook-url', url, '--webhook-secret-file', 'secret'];
async function late(...flags: string[]) {
  const list = await home.json(['late', ...flags]);
  return isList(list) ? list.filter(isRecord) : [];
}
const ofEnvelope = async (id: string) => (await late()).find(({ envelopeId }) => envelopeId === id);

// Each test advances the clock, and its signatures change what is usual.
beforeEach(async () => {
  home = new Home({ ESIGN_WEBHOOK_SECRET: SECRET });
  await home.sandbox();
  await writeFile(home.path('secret'), SECRET);
  listening = home.start`listen --port 0 --json`;
  url = String((await listening.object()).url);
});
afterEach(() => home.close());

describe('late', () => {
  it('shows a signer after the usual time, and the next step until the turn ends', async () => {
    const id = await create('--signer', 'Ada <ada@example.com>', ...webhooks());
    await listening.object();
    expect(await late()).toEqual([]);
    await home.run`sandbox advance 8d`;
    const [first] = await late();
    expect(first).toMatchObject({
      envelopeId: id,
      signer: { name: 'Ada', email: 'ada@example.com' },
      usual: { medianMs: null, percentileMs: 7 * DAY, basis: 'default', samples: 0 },
      opened: false,
      remindedAt: null,
      next: `esign envelopes remind ${id} --signer=ada@example.com`,
    });
    expect(Number(first?.waitingMs)).toBeGreaterThan(7.9 * DAY);

    await home.run`envelopes remind ${id} --yes`;
    const reminded = await ofEnvelope(id);
    expect(Date.parse(String(reminded?.remindedAt))).toBeGreaterThan(Date.parse(String(first?.since)));
    expect(reminded?.next).toBe(`esign envelopes replace ${id} --signer=ada@example.com=NEW-ADDRESS`);

    await home.run`sandbox view ${id}`;
    await listening.object();
    expect(await ofEnvelope(id)).toMatchObject({ opened: true, next: `esign envelopes get ${id}` });

    await home.run`sandbox sign ${id}`;
    expect(await ofEnvelope(id)).toBeUndefined();
  });

  it('counts the turn of the next signer from the signature before it', async () => {
    const signers = ['--signer', 'ada@example.com;order=1', '--signer', 'bo@example.com;order=2'];
    const id = await create(...signers, '--signing-order', 'sequential');
    await home.run`sandbox advance 5d`;
    await home.run`sandbox sign ${id} --signer ada@example.com`;
    await home.run`sandbox advance 4d`;
    expect(await ofEnvelope(id)).toBeUndefined();
    const after = await late('--after', '3d', '--search', id);
    expect(after).toMatchObject([
      { signer: { email: 'bo@example.com' }, usual: { basis: 'fixed', percentileMs: 3 * DAY, samples: 0 } },
    ]);
    expect(Number(after[0]?.waitingMs)).toBeLessThan(5 * DAY);
  });

  it('prints each ID once, for a reminder', async () => {
    const id = await create('--signer', 'ada@example.com', '--signer', 'bo@example.com');
    await home.run`sandbox advance 8d`;
    expect(await late('--search', id)).toHaveLength(2);
    expect(linesOf((await home.run`late --search ${id} -q`).stdout)).toEqual([id]);
    const { code, stdout } = await home.run`late --search nobody -q`;
    expect([code, stdout]).toEqual([0, '']);
  });

  it("doesn't report whether an envelope was opened unless a listener received all of its webhooks", async () => {
    const elsewhere = ['--webhook-url', 'http://127.0.0.1:9/', '--webhook-secret-file', 'secret'];
    const [without, other, broken] = [
      await create('--signer', 'ada@example.com'),
      await create('--signer', 'ada@example.com', ...elsewhere),
      await create('--signer', 'ada@example.com', ...webhooks()),
    ];
    await home.run`sandbox advance 8d`;
    expect((await ofEnvelope(broken))?.opened).toBe(false);
    // It can't record its end.
    await listening.stop('SIGKILL');
    for (const id of [without, other, broken]) expect((await ofEnvelope(id))?.opened).toBeNull();
  });
});
