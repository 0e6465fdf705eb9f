import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { expectOnce, holdingsOf, rowsOf } from '../support/bulk-check.ts';
import { Home, jsonLines, reportedError, type Sandbox } from '../support/cli.ts';

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

  it('stops the run if it fills up, and a resume sends each row once', async () => {
    await writeFile(
      home.path('rows.csv'),
      `email\n${Array.from({ length: 400 }, (_, n) => `d${n}@b.example\n`).join('')}`,
    );
    // Files of earlier runs in the state folder can be larger than the limit.
    const env = { ESIGN_STATE_DIR: home.path('state-on-small-disk') };
    // Room for the stored rows, but not for the whole journal.
    const command = create('rows.csv').join(' ');
    const run = await home.shell(`ulimit -f 90; esign ${command}`, env);
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/"code":"JOURNAL".*esign bulk resume run-/);
    const before = (await holdingsOf(sandbox)).statuses.get('SENT') ?? 0;
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(400);
    const resumed = await home.run(argv`bulk resume --yes --json`, { env });
    expect(resumed.code, resumed.stderr).toBe(0);
    await expectOnce(sandbox, 400);
  });

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
