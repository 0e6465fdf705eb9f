import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { expectOnce, holdingsOf, rowsOf } from '../support/bulk-check.ts';
import { Home, jsonLines, reportedError, type Sandbox } from '../support/cli.ts';
import { canMount, onSmallDisk } from '../support/disk-faults.ts';

const home = new Home();
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await home.sandbox(['--rate-limit', '10000000/15m']);
});
afterAll(() => home.close());
beforeEach(async () => {
  await home.run`sandbox reset --yes`;
});

const create = (file: string, ...more: string[]) =>
  argv`bulk create ${file} --template tmpl_nda --send --yes --json ${more}`;

describe('a disk', () => {
  it('sends nothing if it is full before the run begins', async () => {
    await writeFile(home.path('rows.csv'), rowsOf(200));
    const run = await home.shell(`ulimit -f 8; esign ${create('rows.csv').join(' ')}`);
    expect(run.code).toBe(1);
    expect(reportedError(run)).toMatchObject({ code: 'JOURNAL', exitCode: 1 });
    expect((await holdingsOf(sandbox)).statuses.size).toBe(0);
    expect(await home.json`bulk list`).not.toEqual(
      expect.arrayContaining([expect.objectContaining({ state: 'interrupted' })]),
    );
  });

  it.skipIf(!canMount)(
    'stops a run with a message; after a resume with free space, each row was sent once',
    async () => {
      await writeFile(home.path('many.csv'), rowsOf(60).replaceAll('@example.com', '@full.example'));
      const send = ['bulk', 'create', 'many.csv', '--template', 'tmpl_nda', '--send', '--yes'];
      let stops = 0;
      await rm(home.path('state'), { recursive: true });
      let run = await onSmallDisk(home, home.path('state'), 16, send);
      for (let kib = 24; run.code !== 0; kib += 8) {
        stops++;
        expect(run.stderr).toMatch(/disk is full/);
        const begun = (await home.run`bulk list -q`).stdout !== '';
        run = await onSmallDisk(home, home.path('state'), kib, begun ? ['bulk', 'resume', '--yes'] : send);
      }
      expect(stops).toBeGreaterThan(1);
      const { mails, drafts } = await holdingsOf(sandbox);
      const ours = [...mails].filter(([to]) => to.endsWith('@full.example'));
      expect([ours.length, ours.every(([, count]) => count === 1), drafts]).toEqual([60, true, 0]);
    },
  );

  it('stops everything before the first request if it cannot be written', async () => {
    await writeFile(home.path('rows.csv'), rowsOf(3));
    await writeFile(home.path('file'), '');
    const run = await home.run(create('rows.csv'), { env: { ESIGN_STATE_DIR: home.path('file', 'state') } });
    expect(run.code).toBe(2);
    expect((await holdingsOf(sandbox)).statuses.size).toBe(0);
  });
});

describe('the journal of a run', () => {
  it('is repaired if its last line is incomplete, and refused from another version; neither emails anybody twice', async () => {
    await writeFile(home.path('rows.csv'), rowsOf(3));
    const some = await home.run(create('rows.csv', '--first', '2'));
    expect([some.code, jsonLines(some.stdout).length]).toEqual([0, 2]);
    const [id = ''] = (await home.run`bulk list -q -L 1`).stdout.split('\n');
    const path = join(home.path('state', 'runs', id), 'journal.jsonl');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('"version":1', '"version":9'));
    const other = await home.run`bulk resume ${id} --yes`;
    expect(other.code).toBe(2);
    expect(other.stderr).toContain("can't be used");
    expect((await home.run`bulk list`).stderr).toContain("can't be used");
    // Everything after the first draft is lost, as in a power outage.
    const lines = text.split('\n');
    const created = lines.findIndex((line) => line.includes('"type":"created"'));
    await writeFile(path, `${lines.slice(0, created).join('\n')}\n`);
    await appendFile(path, '{"type":"crea');
    // The first two rows again, then the third.
    for (const sent of [2, 3]) {
      expect((await home.run`bulk resume ${id} --yes`).code).toBe(0);
      await expectOnce(sandbox, sent);
    }
  });
});
