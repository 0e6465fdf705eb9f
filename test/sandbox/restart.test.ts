import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { isPrivate } from '../support/private.ts';
import { startReceiver } from './receiver.ts';
import { DAY, deliveriesOf, listIn, type Rig, startRig } from './rig.ts';

async function everything(rig: Rig): Promise<unknown[]> {
  const envelopes = listIn(await rig.api('GET', '/esign/envelopes?pageSize=100'));
  const mails = await rig.control('GET', '/mails');
  const deliveries = await rig.control('GET', '/deliveries');
  const templates = await rig.api('GET', '/esign/templates');
  // Links use the current address of the sandbox.
  const shown: unknown = JSON.parse(mails.text.replaceAll(rig.service.origin, ''));
  return [envelopes, shown, deliveries.body, templates.body];
}

test('A restart keeps everything: envelopes, emails, deliveries, keys, clock', async () => {
  const first = await startRig();
  const draft = await first.create({ metadata: { n: 1 } });
  const { id } = await first.create({ sendImmediately: true });
  await first.act(id, 'sign', { all: true });
  await first.control('POST', '/clock/advance', { ms: DAY });
  const { key } = await first.makeKey({ orgId: 'org_two' });
  const revoked = await first.makeKey({});
  await first.control('POST', `/keys/${revoked.id}/revoke`);
  const before = await everything(first);
  await first.service.close();

  const second = await startRig({ dataDir: first.dataDir });
  expect(second.service.apiKey).toBe(first.service.apiKey);
  expect(second.service.orgId).toBe(first.service.orgId);
  expect(await everything(second)).toEqual(before);
  expect((await second.get(draft.id)).metadata).toEqual({ n: 1 });
  expect((await second.control('GET', '/')).body).toMatchObject({ clockOffsetMs: DAY });
  expect((await second.api('GET', '/esign/templates', undefined, key)).status).toBe(200);
  expect((await second.api('GET', '/esign/templates', undefined, revoked.key)).status).toBe(401);
});

test('Events that were due while the sandbox was stopped happen at the start, once and after pending ones', async () => {
  let slow = true;
  const receiver = await startReceiver(() => (slow ? null : 200));
  let now = Date.now();
  const clock = { now: () => now, sleep: () => new Promise<void>(() => undefined) };
  const first = await startRig({ clock });
  const body = { sendImmediately: true, expiresInDays: 1, webhookUrl: receiver.url };
  const { id } = await first.create(body);
  await receiver.count(1);
  await first.service.close();
  now += 2 * DAY;
  slow = false;
  const second = await startRig({ dataDir: first.dataDir, clock });
  await receiver.count(3);
  await eventually(async () => {
    const states = (await deliveriesOf(second, id)).map((one) => [one.event, one.state, one.attempts.length]);
    expect(states).toEqual([
      ['envelope.sent', 'delivered', 1],
      ['envelope.expired', 'delivered', 1],
    ]);
  });
  expect(receiver.events()).toEqual(['envelope.sent', 'envelope.sent', 'envelope.expired']);
});

test('The key is kept in a file that only its owner can read; a lost one is replaced, in the same organization', async () => {
  const first = await startRig();
  const { id } = await first.create();
  const path = join(first.dataDir, 'api-key');
  expect((await readFile(path, 'utf8')).trim()).toBe(first.service.apiKey);
  expect(isPrivate(path)).toBe(true);
  await first.service.close();
  await writeFile(path, 'something else');
  const second = await startRig({ dataDir: first.dataDir });
  expect(second.service.apiKey).not.toBe(first.service.apiKey);
  expect((await second.get(id)).id).toBe(id);
});

test('A frozen clock stays at its time across restarts', async () => {
  const at = Date.parse('2030-05-01T09:00:00.000Z');
  const first = await startRig({ startsAt: at, isFrozen: true });
  await first.control('POST', '/clock/advance', { ms: 3_600_000 });
  await first.service.close();
  const second = await startRig({ dataDir: first.dataDir, isFrozen: true });
  expect((await second.control('GET', '/')).body).toMatchObject({ now: '2030-05-01T10:00:00.000Z' });
});
