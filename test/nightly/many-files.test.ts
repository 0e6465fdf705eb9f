import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { Home } from '../support/cli.ts';
import { canMount, type DiskFault, needsInjection, onSmallDisk, strike } from '../support/disk-faults.ts';
import { seeded } from '../support/faulty-proxy.ts';
import { startServer, type TestServer } from '../support/server.ts';

const SEED = Number(process.env.FAULT_SEED ?? Date.now() % 2 ** 32);
const CALLS = Number(process.env.FAULT_DISK_CALLS ?? 12);
const KILLS = Number(process.env.FAULT_KILLS ?? 15);
const COUNT = 90;
const random = seeded(SEED);
const env = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'us-east-1' };
const home = new Home(env);
const documents = new Map(
  Array.from({ length: COUNT }, (_, index) => [
    `org/env_${index}/signed.pdf`,
    Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(3_000 + index, `${index},`)]),
  ]),
);
const hash = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest('hex');
let bucket: TestServer;
/** How many requests the bucket responds to. It leaves later ones open. */
let answered = Number.POSITIVE_INFINITY;

beforeAll(async () => {
  process.stdout.write(`faults of many files: FAULT_SEED=${SEED}\n`);
  bucket = await startServer((request, response) => {
    if (bucket.seen.length > answered) return;
    const document = documents.get(decodeURIComponent(request.path).replace(/^\/b\//, '')) ?? Buffer.alloc(0);
    const etag = `"${hash('md5', document)}"`;
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end();
    response.writeHead(200, { etag, 'content-length': document.byteLength }).end(document);
  });
  const words = ['profiles', 'add', 'many', '--base-url', 'http://127.0.0.1:9/v1', '--api-key-file', '-'];
  const storage = ['--no-verify', '--bucket', 'b', '--endpoint', bucket.origin];
  await home.run(argv`${words} ${storage}`, { input: 'sk_0123456789\n' });
});
afterAll(async () => {
  await bucket.close();
  await home.close();
});

const words = (dir: string) => ['documents', 'download', '-', '--dir', dir, '--name-template', '{key}'];
const input = `${[...documents.keys()].join('\n')}\n`;

/** Returns the names of the files in a folder. Each with a final name is complete, and each in the list exists. */
async function expectWhole(dir: string, at: string): Promise<string[]> {
  const names = await readdir(home.path(dir), { recursive: true }).catch(() => []);
  const finals = names.filter((name) => name.endsWith('.pdf'));
  for (const name of finals)
    expect(hash('sha256', await readFile(home.path(dir, name))), `${at}: ${name}`).toBe(
      hash('sha256', documents.get(name) ?? Buffer.alloc(0)),
    );
  const list = await readFile(home.path(dir, 'SHA256SUMS'), 'utf8').catch(() => '');
  for (const line of list.split('\n').filter((text) => text !== ''))
    expect(finals, `${at}: listed`).toContain(line.slice(66));
  return names;
}

async function expectRepaired(dir: string, at: string): Promise<void> {
  const again = await home.run(words(dir), { env, input });
  expect([again.code, again.stderr], at).toEqual([0, '']);
  const names = await expectWhole(dir, at);
  expect(names.filter((name) => name.endsWith('.pdf')).sort(), at).toEqual([...documents.keys()].sort());
  expect(
    names.filter((name) => name.endsWith('.part')),
    at,
  ).toEqual([]);
  expect((await home.shell(`cd ${dir} && sha256sum -c --strict --quiet SHA256SUMS`)).code, at).toBe(0);
}

describe('many small files', () => {
  it('are complete if they have their name, after kills at random moments, and a rerun downloads the others', {
    timeout: 300_000,
  }, async () => {
    let partly = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const dir = `kill-${kill}`;
      // Most kills during the downloads, some before and after.
      const wanted = Math.floor(random() * COUNT * 1.1);
      answered = bucket.seen.length + wanted;
      const running = home.start(words(dir), { env });
      running.child.stdin?.end(input);
      for (let ended = false; !ended && bucket.seen.length < answered; )
        ended = await Promise.race([running.ended.then(() => true), pause(1, false)]);
      running.child.kill('SIGKILL');
      await running.ended;
      answered = Number.POSITIVE_INFINITY;
      const finals = (await expectWhole(dir, dir)).filter((name) => name.endsWith('.pdf'));
      partly += Number(finals.length > 0 && finals.length < COUNT);
      await expectRepaired(dir, dir);
    }
    expect(partly).toBeGreaterThan(0);
  });

  it.each<DiskFault>(['EIO', 'ENOSPC', 'kill'])(
    'survive a disk that fails at any step (%s)',
    needsInjection,
    async (fault) => {
      let turn = 0;
      const dir = () => `${fault}-${turn}`;
      for await (const run of strike(home, fault, () => words(dir()), CALLS, { env, input })) {
        if (fault !== 'kill') expect(run.stderr, run.at).not.toMatch(/^\s+at .*:\d+:\d+/m);
        if (run.code !== 0 && fault !== 'kill') expect(run.stderr.trim(), run.at).not.toBe('');
        const names = await expectWhole(dir(), run.at);
        if (fault !== 'kill') expect([0, 9, 10], `${run.at}: ${run.stderr}`).toContain(run.code);
        if (run.code === 0)
          expect(
            names.filter((name) => name.endsWith('.pdf')),
            run.at,
          ).toHaveLength(COUNT);
        await expectRepaired(dir(), run.at);
        turn++;
      }
      expect(turn).toBeGreaterThan(4);
    },
  );

  it.skipIf(!canMount)(
    'exit with 9 and a message if the disk is full when the list of hashes is written, and leave nothing behind',
    async () => {
      const codes: (number | null)[] = [];
      for (let kib = 4 * COUNT - 4; kib <= 4 * COUNT + 24; kib += 4) {
        const dir = `full-${kib}`;
        const run = await onSmallDisk(home, home.path(dir), kib, words(dir), input);
        codes.push(run.code);
        if (run.code !== 0) expect(run.stderr, dir).toContain('the disk is full');
        const names = await expectWhole(dir, dir);
        expect(
          names.filter((name) => !name.endsWith('.pdf') && !name.startsWith('org')),
          dir,
        ).toEqual(names.includes('SHA256SUMS') ? ['SHA256SUMS'] : []);
        await expectRepaired(dir, dir);
      }
      expect(new Set(codes)).toEqual(new Set([9, 0]));
    },
  );
});
