import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';
import type { DocumentMaker } from '../../../src/sandbox/model.ts';
import { Store } from '../../../src/sandbox/service/store/store.ts';
import { eventually } from '../../support/eventually.ts';
import { isPrivate } from '../../support/private.ts';
import { portOf } from '../../support/server.ts';
import { startReceiver } from './receiver.ts';
import { DAY, deliveriesOf, listIn, mailsOf, plainDocuments, type Rig, startRig, tempFolder } from './rig.ts';

async function everything(rig: Rig): Promise<unknown[]> {
  const envelopes = listIn(await rig.api('GET', '/esign/envelopes?pageSize=100'));
  const mails = await rig.control('GET', '/mails');
  const deliveries = await rig.control('GET', '/deliveries');
  const templates = await rig.api('GET', '/esign/templates');
  // Links use the current address of the sandbox.
  const shown: unknown = JSON.parse(mails.text.replaceAll(`"link":"${rig.service.origin}/`, '"link":"/'));
  return [envelopes, shown, deliveries.body, templates.body];
}

test('A restart keeps everything: envelopes, emails, deliveries, keys, audit log, clock', async () => {
  const first = await startRig();
  const draft = await first.create({ metadata: { n: 1 } });
  const { id } = await first.create({ sendImmediately: true });
  await first.act(id, 'sign', { all: true });
  await first.control('POST', '/clock/advance', { ms: DAY });
  const { key, id: keyId } = await first.makeKey({ orgId: 'org_two' });
  const revoked = await first.makeKey({});
  await first.control('POST', `/keys/${revoked.id}/revoke`);
  await first.api('GET', '/esign/templates', undefined, key);
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
  const { data } = listIn(await second.control('GET', '/audit?pageSize=100'));
  expect(data.filter((entry) => entry.keyId === keyId && entry.action === 'api.request')).toHaveLength(2);
});

test('A drawn signature survives a restart, for documents that are created when the last signer signs', async () => {
  const seen: unknown[] = [];
  const documents: DocumentMaker = {
    ...plainDocuments,
    signed: (input) => {
      seen.push(input.envelope.signers.map(({ drawings }) => drawings));
      return plainDocuments.signed(input);
    },
  };
  const first = await startRig({ documents });
  const { id } = await first.create({ sendImmediately: true });
  const link = /http:\S+\/sign\/\S+/.exec((await mailsOf(first, id))[0]?.text ?? '')?.[0] ?? '';
  const typed = { 'f.tenant_date': '2026-01-01', 'f.tenant_email': 'a@b.cc', 'f.tenant_agrees': 'true' };
  const body = new URLSearchParams({
    ...typed,
    'f.tenant_term': '1 year',
    'f.tenant_initials': 'A',
    'd.tenant_sig': '1,2 3,4;5,6',
    consent: 'yes',
  });
  expect((await fetch(link, { method: 'POST', body, redirect: 'manual' })).status).toBe(303);
  await first.service.close();
  const second = await startRig({ dataDir: first.dataDir, documents });
  expect((await second.act(id, 'sign', {})).status).toBe('COMPLETED');
  expect(seen).toEqual([
    [
      {
        tenant_sig: [
          [1, 2, 3, 4],
          [5, 6],
        ],
      },
      undefined,
    ],
  ]);
});

test('The key is kept in a 0600 file, and the journal contains only its hash', async () => {
  const rig = await startRig();
  const path = join(rig.dataDir, 'api-key');
  expect((await readFile(path, 'utf8')).trim()).toBe(rig.service.apiKey);
  expect(isPrivate(path)).toBe(true);
  expect(await readFile(join(rig.dataDir, 'service.jsonl'), 'utf8')).not.toContain(rig.service.apiKey);
});

test('A revoked or lost default key is replaced at the next start, in the same organization', async () => {
  const first = await startRig();
  const { id } = await first.create();
  await first.service.close();
  await writeFile(join(first.dataDir, 'api-key'), 'something else');
  const second = await startRig({ dataDir: first.dataDir });
  expect(second.service.apiKey).not.toBe(first.service.apiKey);
  expect((await second.get(id)).id).toBe(id);
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

test('An incomplete last line is dropped and everything before it is kept; writing continues', async () => {
  const first = await startRig();
  const kept = await first.create();
  await first.service.close();
  const path = join(first.dataDir, 'service.jsonl');
  for (const tail of ['[{"kind":"envelope","value":{"id":"env_half', '\u0000\u0000\u0000\n']) {
    await appendFile(path, tail);
    const next = await startRig({ dataDir: first.dataDir });
    expect((await next.get(kept.id)).id).toBe(kept.id);
    const { id } = await next.create();
    await next.service.close();
    const last = await startRig({ dataDir: first.dataDir });
    expect((await last.get(id)).id).toBe(id);
    await last.service.close();
  }
});

test('Truncated at any byte, the journal opens with the acknowledged envelopes before that byte', async () => {
  const first = await startRig();
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) ids.push((await first.create()).id);
  await first.service.close();
  const whole = await readFile(join(first.dataDir, 'service.jsonl'), 'utf8');
  const dataDir = await tempFolder();
  const path = join(dataDir, 'service.jsonl');
  for (let cut = whole.length; cut > 0; cut -= 97) {
    await writeFile(path, whole.slice(0, cut));
    const store = await Store.open(dataDir);
    const linesKept = whole.slice(0, cut).split('\n').slice(0, -1);
    const expected = ids.filter((id) =>
      linesKept.some((line) => line.includes(`"kind":"envelope","value":{"id":"${id}"`)),
    );
    expect([...store.state.envelopes.keys()]).toEqual(expected);
    await store.close();
  }
});

test('Damage inside the journal is reported with path and line, and nothing is changed', async () => {
  const first = await startRig();
  await first.create();
  await first.service.close();
  const path = join(first.dataDir, 'service.jsonl');
  const good = await readFile(path, 'utf8');
  const [header = '', ...lines] = good.split('\n');
  const damaged = [
    [`Line 2 of the journal ${path} is damaged.`, [header, '{broken', ...lines]],
    [
      `Line 2 of the journal ${path} is damaged.`,
      [header, lines[0]?.replace('NDA', 'NDB'), ...lines.slice(1)],
    ],
    [`The journal ${path} can't be used: its first line is damaged, or it is not a journal.`, ['{"a":1}']],
    // A journal of version 0.1 is migrated, but not with a line missing.
    [
      `Line 2 of the journal ${path} is damaged.`,
      ['[{"kind":"org","value":"org_1"}]', '[{"kind":"key"}]', '[]'],
    ],
  ] as const;
  for (const [message, text] of damaged) {
    await writeFile(path, `${text.join('\n')}\n`);
    await expect(startRig({ dataDir: first.dataDir })).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(message) as unknown,
    });
    expect(await readFile(path, 'utf8')).toBe(`${text.join('\n')}\n`);
    expect(existsSync(`${path}.0.1`)).toBe(false);
  }
  await writeFile(path, good);
  await startRig({ dataDir: first.dataDir });
});

test('Two sandboxes with one folder: the second is refused with a sentence, and can use it after the first has closed', async () => {
  const first = await startRig();
  await expect(startRig({ dataDir: first.dataDir })).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(`(process ${process.pid}) is using ${first.dataDir}`) as unknown,
  });
  await first.service.close();
  await startRig({ dataDir: first.dataDir });
});

test("The lock of a dead process doesn't block the folder", async () => {
  const dataDir = await tempFolder();
  const gone = spawn(process.execPath, ['-e', '']);
  await new Promise((resolve) => gone.once('exit', resolve));
  await writeFile(join(dataDir, 'service.lock'), `${gone.pid ?? 0} 1`);
  await startRig({ dataDir });
});

test('A port in use rejects with the original EADDRINUSE error and releases the folder', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void taken.close());
  const port = portOf(taken);
  const dataDir = await tempFolder();
  await expect(startRig({ dataDir, port })).rejects.toMatchObject({ code: 'EADDRINUSE', port });
  await startRig({ dataDir });
});

test('A journal that has grown is compacted while the sandbox runs, without loss', async () => {
  const dataDir = await tempFolder();
  const store = await Store.open(dataDir, { compactAt: 20_000 });
  const audit = (n: number) => ({
    id: `aud_${n}`,
    at: '2026-01-01T00:00:00.000Z',
    orgId: 'org_1',
    keyId: null,
    action: 'api.request' as const,
    method: 'GET',
    path: '/',
    status: 200,
  });
  const clocks: Promise<void>[] = [];
  for (let n = 0; n < 2000; n += 1) {
    clocks.push(store.commit([{ kind: 'clock', value: n }]));
    if (n % 10 === 0) store.note({ kind: 'audit', value: audit(n) });
    if (n % 50 === 0) await Promise.all(clocks);
  }
  await Promise.all(clocks);
  await store.close();
  const lines = (await readFile(join(dataDir, 'service.jsonl'), 'utf8')).split('\n');
  expect(lines.length).toBeLessThan(1500);
  const again = await Store.open(dataDir);
  expect(again.state.clock.value).toBe(1999);
  expect([...again.state.audit.keys()]).toEqual(Array.from({ length: 200 }, (_, n) => `aud_${n * 10}`));
  await again.close();
});

test("A change that can't be written is not in memory either; after close, nothing is written", async () => {
  const dataDir = await tempFolder();
  const store = await Store.open(dataDir);
  await store.commit([{ kind: 'clock', value: 1 }]);
  await store.close();
  for (const value of [2, 3])
    await expect(store.commit([{ kind: 'clock', value }])).rejects.toThrow(/service\.jsonl is closed/);
  expect(store.state.clock.value).toBe(1);
  const again = await Store.open(dataDir);
  expect(again.state.clock.value).toBe(1);
  await again.close();
});

test('An acknowledged request is never lost by kill -9', async () => {
  const folder = await tempFolder();
  const entry = join(folder, 'run.mjs');
  await build({
    stdin: { contents: RUNNER, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: entry,
    logLevel: 'silent',
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  const dataDir = join(folder, 'data');
  await mkdir(dataDir);
  const acknowledged = new Set<string>();
  for (let round = 0; round < 2; round += 1) {
    const child = spawn(process.execPath, [entry, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    let seen = 0;
    for await (const id of createInterface(child.stdout)) {
      acknowledged.add(id);
      seen += 1;
      if (seen === 40) child.kill('SIGKILL');
    }
    await ended;
  }
  expect(acknowledged.size).toBeGreaterThanOrEqual(80);
  const rig = await startRig({ dataDir });
  for (const id of acknowledged) {
    expect((await rig.get(id)).status).toBe('SENT');
    expect(await mailsOf(rig, id)).toHaveLength(2);
  }
});

/** A sandbox that creates envelopes, eight at a time, and prints each acknowledged ID. */
const RUNNER = `
import { startService } from '../../../src/sandbox/service/server.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
const at = '2026-01-01T00:00:00.000Z';
const pdf = async () => Buffer.from('%PDF');
const service = await startService({
  dataDir: process.argv[2], host: '127.0.0.1', port: 0, clock: systemClock,
  rateLimit: { requests: 100000, seconds: 900 },
  documents: { document: pdf, signed: pdf, certificate: pdf, templates: () => [{ id: 'tmpl_1', name: 'T', description: '',
    pageCount: 1, fields: [], roles: ['Signer'], active: true, createdAt: at, updatedAt: at }] },
  objects: { put: async () => {}, get: async () => null, clear: async () => {}, onMiss: () => {} },
});
const body = JSON.stringify({ templateId: 'tmpl_1', sendImmediately: true,
  signers: [{ email: 'a@b.cc', name: 'A' }, { email: 'c@d.ee', name: 'C' }] });
const work = async () => {
  for (;;) {
    const reply = await fetch(service.origin + '/api/v1/esign/envelopes', { method: 'POST', body,
      headers: { authorization: 'Bearer ' + service.apiKey, 'content-type': 'application/json' } });
    const { data } = await reply.json();
    process.stdout.write(data.id + '\\n');
  }
};
await Promise.all(Array.from({ length: 8 }, work));
`;
