import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { isList, isRecord } from '../../src/kernel/json.ts';
import { rowsOf } from '../support/bulk-check.ts';
import { COMMAND, Home, reportedError } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { openScreen } from '../support/pty.ts';

let home: Home;
const bulk = ['bulk', 'create', 'rows.csv', '--template', 'tmpl_nda', '--send', '--yes'];

beforeAll(() => vi.setConfig({ testTimeout: 60_000 }));
beforeEach(async () => {
  home = new Home();
  await home.sandbox();
});
afterEach(() => home.close());

const rows = (count: number) => writeFile(home.path('rows.csv'), rowsOf(count));
const guard = (...flags: string[]) => home.run(['profiles', 'edit', 'sandbox', ...flags]);

async function sent(): Promise<number> {
  const list = await home.json`envelopes list --all`;
  return isList(list) ? list.filter((one) => isRecord(one) && one.status === 'SENT').length : -1;
}

describe('a limit of emails', () => {
  it('counts the rows that are sent now', async () => {
    await rows(9);
    await guard('--max-emails', '4');
    expect(reportedError(await home.run([...bulk, '--json']))).toMatchObject({ code: 'TOO_MANY_EMAILS' });
    expect(await home.run([...bulk, '--first', '2'])).toMatchObject({ code: 0 });
    await guard('--max-emails', '2');
    const { code, stderr } = await home.run`bulk resume --dry-run`;
    expect([code, stderr]).toEqual([0, expect.stringContaining('TOO_MANY_EMAILS')]);
    const refused = reportedError(await home.run`bulk resume --yes --json`);
    expect([refused.code, refused.exitCode, await sent()]).toEqual(['TOO_MANY_EMAILS', 2, 2]);
    await guard('--max-emails', '4');
    expect(await home.run`bulk resume --yes --first 4`).toMatchObject({ code: 0 });
    expect(await home.run`bulk resume --yes`).toMatchObject({ code: 0 });
    expect(await sent()).toBe(9);
  });
});

describe('the log of writes', () => {
  it('stays complete when several processes write at the same time', async () => {
    const create = ['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'A <a@example.com>', '-q'];
    const ends = await Promise.all(Array.from({ length: 4 }, () => home.start(create).ended));
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(await home.object`log verify`).toMatchObject({ ok: true, entries: 4 });
  });

  it('stays complete when a run is killed, and names what the run had created', async () => {
    await rows(60);
    const run = home.start([...bulk]);
    const folder = home.path('state', 'runs');
    await eventually(async () => {
      const [id = ''] = await readdir(folder);
      expect(await readFile(join(folder, id, 'journal.jsonl'), 'utf8')).toContain('"created"');
    });
    await run.stop('SIGKILL');
    expect(await home.object`log verify`).toMatchObject({ ok: true, entries: 1 });
    const entries = await home.json`log`;
    expect(entries).toMatchObject([{ command: 'bulk create', outcome: 'unknown' }]);
    const [entry] = isList(entries) ? entries.filter(isRecord) : [];
    const named = isList(entry?.envelopeIds) ? entry.envelopeIds : [];
    const list = await home.json`envelopes list --all`;
    const ids = isList(list) ? list.filter(isRecord).map(({ id }) => id) : [];
    // The journal may lack the one that was in progress.
    expect(named.length).toBeGreaterThan(0);
    expect(ids).toEqual(expect.arrayContaining([...named]));
  });
});

describe('a confirmation by name', () => {
  it.each([
    ['yes', 2, 0],
    ['sandbox', 0, 2],
  ])('exits as expected when %s is typed: %i', async (typed, exitCode, count) => {
    await guard('--confirm-name');
    await rows(2);
    const [file, ...before] = COMMAND;
    const env = { PATH: process.env.PATH ?? '', ...home.env };
    const screen = openScreen(file, [...before, ...bulk.with(2, home.path('rows.csv'))], { env });
    await screen.shows('Type sandbox');
    screen.type(`${typed}\r`);
    expect((await screen.ended).code).toBe(exitCode);
    expect(await sent()).toBe(count);
  });
});
