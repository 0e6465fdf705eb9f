import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { holdingsOf, rowsOf } from '../support/bulk-check.ts';
import { Home, type Sandbox } from '../support/cli.ts';
import { canMount, type DiskFault, needsInjection, onSmallDisk, strike } from '../support/disk-faults.ts';
import { mailsIn } from '../support/mails.ts';

/** How many calls of each kind fail in turn. */
const CALLS = Number(process.env.FAULT_DISK_CALLS ?? 12);
const home = new Home();
let sandbox: Sandbox;
let completed: string;
let whole: Map<string, string>;

beforeAll(async () => {
  sandbox = await home.sandbox();
  const created = await home.object`envelopes create --template tmpl_nda --signer a@x.org --send`;
  completed = String(created.id);
  await home.json`sandbox sign ${completed}`;
  await home.run`envelopes download ${completed} --dir whole`;
  whole = await filesIn('whole');
});
afterAll(() => home.close());

const sha = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');

/** The complete files of a folder, by name, with their checksums. */
async function filesIn(folder: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const name of existsSync(home.path(folder)) ? await readdir(home.path(folder)) : [])
    if (name.endsWith('.pdf')) files.set(name, sha(await readFile(home.path(folder, name))));
  return files;
}

/** A command that a disk fault stopped reports it in a sentence; one that could continue succeeds. */
function expectWords(run: { at: string; code: number | null; stderr: string }, fault: DiskFault): void {
  if (fault === 'kill') return;
  expect(run.stderr, run.at).not.toMatch(/^\s+at .*:\d+:\d+/m);
  expect(run.code, run.at).not.toBeNull();
  if (run.code !== 0) expect(run.stderr.trim(), run.at).not.toBe('');
}

/** Returns the names of files next to the profiles and deletes them, except for the lock, which blocks nobody. */
async function clearLeftovers(): Promise<string[]> {
  const left = (await readdir(home.path('config'))).filter((name) => name !== 'profiles.json');
  for (const name of left) if (!name.endsWith('.lock')) await rm(home.path('config', name));
  return left;
}

describe('a disk that fails at any step', needsInjection, () => {
  it.each<DiskFault>(['EIO', 'ENOSPC', 'kill'])('loses no profile (%s)', async (fault) => {
    const before = await readFile(home.path('config', 'profiles.json'), 'utf8');
    let turn = 0;
    let strikes = 0;
    const edit = () => ['profiles', 'edit', 'sandbox', '--region', `region-${turn}`, '--no-verify'];
    for await (const run of strike(home, fault, edit, CALLS)) {
      strikes++;
      expectWords(run, fault);
      const stored = await home.object`profiles show sandbox`;
      expect(stored, run.at).toMatchObject({ apiKey: { source: 'profile' } });
      const region = isRecord(stored.storage) ? stored.storage.region : undefined;
      if (run.code === 0) expect(region, run.at).toBe(`region-${turn}`);
      const left = await clearLeftovers();
      if (fault !== 'kill' && !run.at.includes('unlink')) expect(left, run.at).toEqual([]);
      turn++;
    }
    expect(strikes).toBeGreaterThan(2);
    await writeFile(home.path('config', 'profiles.json'), before);
  });

  it.each<DiskFault>(['EIO', 'ENOSPC', 'kill'])('leaves no partial document (%s)', async (fault) => {
    let turn = 0;
    const fetch = () => ['envelopes', 'download', completed, '--dir', `out-${fault}-${turn}`];
    for await (const run of strike(home, fault, fetch, CALLS)) {
      expectWords(run, fault);
      const folder = `out-${fault}-${turn}`;
      for (const [name, sum] of await filesIn(folder))
        expect(sum, `${run.at}: ${name}`).toBe(whole.get(name));
      if (run.code === 0) expect(await filesIn(folder), run.at).toEqual(whole);
      const again = await home.run`envelopes download ${completed} --dir ${folder}`;
      expect([again.code, again.stderr.includes('rror')], `${run.at}: ${again.stderr}`).toEqual([0, false]);
      expect(await filesIn(folder), run.at).toEqual(whole);
      expect((await home.run`documents verify ${folder}`).code, run.at).toBe(0);
      turn++;
    }
    expect(turn).toBeGreaterThan(4);
  });

  it.each<DiskFault>(['EIO', 'ENOSPC', 'kill'])('reminds nobody twice within the gap (%s)', async (fault) => {
    const ids: string[] = [];
    for (let n = 0; n < 25; n++) {
      const one = [
        'envelopes',
        'create',
        '--template',
        'tmpl_nda',
        '--signer',
        `r${fault}${n}@x.org`,
        '--send',
      ];
      ids.push(String((await home.object(one)).id));
    }
    let turn = 0;
    const remind = (id = '') => ['envelopes', 'remind', id, '--min-gap', '1d', '--yes'];
    for await (const run of strike(home, fault, () => remind(ids[turn]), CALLS)) {
      expectWords(run, fault);
      const again = await home.run(remind(ids[turn]));
      const mails = await remindersTo(`r${fault}${turn}@x.org`);
      expect(mails, `${run.at}: ${again.stderr}`).toBeLessThanOrEqual(1);
      if (run.code === 0) expect(mails, run.at).toBe(1);
      turn++;
    }
    expect(turn).toBeGreaterThan(1);
  });

  it.each<DiskFault>(['EIO', 'kill'])('sends each row of a file once (%s)', async (fault) => {
    let turn = 0;
    let strikes = 0;
    const before = (await holdingsOf(sandbox)).mails;
    const words = () => [
      'bulk',
      'create',
      `${fault}-${turn}.csv`,
      '--template',
      'tmpl_nda',
      '--send',
      '--yes',
    ];
    const send = async () => {
      turn++;
      const rows = rowsOf(4).replaceAll('@example.com', `@${fault.toLowerCase()}${turn}.example`);
      await writeFile(home.path(`${fault}-${turn}.csv`), rows);
      return words();
    };
    for await (const run of strike(home, fault, send, Math.min(CALLS, 6))) {
      strikes++;
      expectWords(run, fault);
      await home.run`bulk resume --yes`;
      const { mails } = await holdingsOf(sandbox);
      const sent = [...mails].filter(([to]) => to.endsWith(`@${fault.toLowerCase()}${turn}.example`));
      // Either the run had begun and was resumed to its end, or nothing had been sent and it starts from scratch.
      if (sent.length === 0) expect((await home.run(words())).code, run.at).toBe(0);
      else expect(sent.length, run.at).toBe(4);
    }
    expect(strikes).toBeGreaterThan(2);
    for (const [to, count] of (await holdingsOf(sandbox)).mails)
      if (!before.has(to)) expect(count, to).toBe(1);
  });
});

async function remindersTo(address: string): Promise<number> {
  return (await mailsIn(sandbox)).filter(({ to, kind }) => to === address && kind === 'reminder').length;
}

describe.skipIf(!canMount)('a full disk', () => {
  it('stops a download with a message and no partial file', async () => {
    for (const kib of [4, 16, 40, 100]) {
      const folder = `small-${kib}`;
      const args = ['envelopes', 'download', completed, '--dir', folder];
      const run = await onSmallDisk(home, home.path(folder), kib, args);
      for (const [name, sum] of await filesIn(folder)) expect(sum, name).toBe(whole.get(name));
      expect([run.code === 0, run.stderr.includes('the disk is full')]).toEqual(
        run.code === 0 ? [true, false] : [false, true],
      );
      expect((await home.run(args)).code).toBe(0);
      expect(await filesIn(folder)).toEqual(whole);
    }
  });
});
