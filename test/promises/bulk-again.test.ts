import { readFile, rm, writeFile } from 'node:fs/promises';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { lockFile } from '../../src/kernel/files/lock.ts';
import { isList, isRecord } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, jsonLines, type RunOptions, reportedError } from '../support/cli.ts';
import { keyRevokedAfter, type Relay, refuses, relayedSandbox } from '../support/relay.ts';

const home = new Home();
/** Another machine: it shares only the service. */
const elsewhere = { env: { ESIGN_STATE_DIR: home.pathLater('other-state') } };
let relay: Relay;
beforeAll(async () => {
  relay = await relayedSandbox(home);
});
beforeEach(() => relay.reset());

const write = (text: string) => writeFile(home.path('rows.csv'), text);
/** Writes rows.csv with the people NAME0, NAME1, … */
const people = (name: string, count: number) =>
  write(
    `email,name\n${Array.from({ length: count }, (_, n) => `${name}${n}@example.com,${name} ${n}\n`).join('')}`,
  );
const once = (name: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${name}${n}@example.com`, 1]));
const run = (flags: readonly string[], options: RunOptions = {}) =>
  home.run(argv`bulk create rows.csv --template tmpl_nda --yes --json ${flags}`, options);
const send = (...flags: string[]) => run(['--send', ...flags]);
const rowsIn = (stdout: string) =>
  jsonLines(stdout)
    .filter(isRecord)
    .toSorted((a, b) => Number(a.row) - Number(b.row));
const statuses = ({ stdout }: { stdout: string }) => rowsIn(stdout).map(({ status }) => status);
const creates = () =>
  relay.seen.filter(({ method, path }) => method === 'POST' && path === '/esign/envelopes');
async function runsHere(): Promise<Record<string, unknown>[]> {
  const runs = await home.json`bulk list`;
  return isList(runs) ? runs.filter(isRecord) : [];
}
const sendOne = (signer: string, ...flags: string[]) =>
  home.object(argv`envelopes create --template tmpl_nda --signer ${signer} --send ${flags}`);

describe('a list that is run again', () => {
  it('is sent once, also from another machine', async () => {
    await people('machine', 3);
    const first = await send();
    const second = await run(['--send'], elsewhere);
    expect([second.code, statuses(second)]).toEqual([0, ['EXISTING', 'EXISTING', 'EXISTING']]);
    expect(rowsIn(second.stdout).map(({ envelopeId }) => envelopeId)).toEqual(
      rowsIn(first.stdout).map(({ envelopeId }) => envelopeId),
    );
    expect(await relay.emails()).toEqual(once('machine', 3));
  });

  it('skips a row that `envelopes create` sent', async () => {
    const { id } = await sendOne('single 1 <single1@example.com>');
    await people('single', 2);
    const { stdout } = await send();
    expect(rowsIn(stdout)).toMatchObject([{ status: 'SENT' }, { status: 'EXISTING', envelopeId: id }]);
    expect(await relay.emails()).toEqual(once('single', 2));
  });

  it('sends the rows again that were sent more than 30 days ago, by the clock of the service', async () => {
    await people('old', 2);
    await send();
    await home.run`sandbox advance 29d`;
    expect(statuses(await send())).toEqual(['EXISTING', 'EXISTING']);
    await home.run`sandbox advance 2d`;
    expect(statuses(await send())).toEqual(['SENT', 'SENT']);
  });

  it('sends only the corrected row, and all rows with --again', async () => {
    await people('fix', 3);
    relay.intervene = refuses('fix1@');
    await send();
    relay.intervene = () => undefined;
    const second = await send();
    expect([second.code, statuses(second)]).toEqual([0, ['EXISTING', 'SENT', 'EXISTING']]);
    expect(await relay.emails()).toEqual(once('fix', 3));
    const dry = await home.run`bulk create rows.csv --template tmpl_nda --send --dry-run --json`;
    expect(JSON.parse(dry.stdout)).toMatchObject({ rows: 0, existing: 3 });
    // A list with nothing left to send leaves no run.
    const before = await runsHere();
    expect(statuses(await send())).toEqual(['EXISTING', 'EXISTING', 'EXISTING']);
    expect(await runsHere()).toEqual(before);
    const again = await send('--again');
    expect(
      rowsIn(again.stdout).map(({ run: id, row, requestId }) => requestId === `${String(id)}-${String(row)}`),
    ).toEqual([true, true, true]);
    expect(Object.values(await relay.emails())).toEqual([2, 2, 2]);
  });

  it('skips rows whose envelopes were canceled since, unless --again is given', async () => {
    await people('back', 2);
    await send();
    await home.run`envelopes cancel --run last --yes`;
    const { stdout, stderr } = await home.run`bulk create rows.csv --template tmpl_nda --send --yes`;
    expect([stdout.match(/EXISTING/g)?.length ?? 0, stderr]).toEqual([2, expect.stringContaining('2 ended')]);
    expect(statuses(await send('--again'))).toEqual(['SENT', 'SENT']);
  });

  it('sends the drafts of an earlier run and creates no others', async () => {
    await people('draft', 3);
    expect((await run([])).code).toBe(0);
    expect(statuses(await send())).toEqual(['SENT', 'SENT', 'SENT']);
    expect(creates()).toHaveLength(3);
    expect(await relay.emails()).toEqual(once('draft', 3));
  });
});

describe('rows with the same content', () => {
  it('are sent once, with the line of the first', async () => {
    await write('email,name\nann@example.com,Ann\nbo@example.com,Bo\nANN@Example.com,Ann B.\n');
    const { code, stdout } = await send();
    expect([code, rowsIn(stdout)]).toMatchObject([
      0,
      [{ status: 'SENT' }, { status: 'SENT' }, { status: 'EXISTING', ok: true, sameAs: 2 }],
    ]);
    expect(await relay.emails()).toEqual({ 'ann@example.com': 1, 'bo@example.com': 1 });
    const [first, , third] = rowsIn((await send()).stdout);
    expect(third).toMatchObject({ status: 'EXISTING', sameAs: 2, requestId: first?.requestId });
    expect(Object.values(await relay.emails())).toEqual([1, 1]);
    expect(statuses(await send('--again'))).toEqual(['SENT', 'SENT', 'SENT']);
  });

  it('are the same in another notation: columns, delimiter, case, and Unicode form', async () => {
    await write(
      'email,name,meta.deal\nzoë@bücher.example,Zoë Ünal,7\nbo@example.com,Bo,8\n'.normalize('NFC'),
    );
    expect(statuses(await send())).toEqual(['SENT', 'SENT']);
    await write(
      '\ufeffmeta.deal;name;email\r\n8;Bo;BO@example.com\r\n7;Zoë Ünal;zoë@xn--bcher-kva.example\r\n'.normalize(
        'NFD',
      ),
    );
    const { stdout } = await run(['--send'], elsewhere);
    expect(rowsIn(stdout)).toMatchObject([{ status: 'EXISTING' }, { status: 'EXISTING' }]);
    expect(rowsIn(stdout).some((row) => 'changed' in row)).toBe(false);
  });

  it('are skipped if only their wording was corrected, which is named with the lines', async () => {
    await write('email,name,message\nann@example.com,Ann,Hi\nbo@example.com,Bo,Hi\n');
    await send();
    await write('email,name,message\nann@example.com,Ann Lee,Hi\nbo@example.com,Bo,Hello\n');
    const { stdout } = await run(['--send'], elsewhere);
    expect(rowsIn(stdout)).toMatchObject([
      { status: 'EXISTING', changed: ['name'] },
      { status: 'EXISTING', changed: ['message'] },
    ]);
    const { stderr } = await home.run`bulk create rows.csv --template tmpl_nda --send --yes`;
    expect(stderr).toMatch(
      /lines 2, 3: the name and message differ from what was sent; .*`esign envelopes replace env_\w+` for line 2/,
    );
    expect(Object.values(await relay.emails())).toEqual([1, 1]);
  });

  it('count as their replacement, in the old list and in the corrected one', async () => {
    await people('wrong', 2);
    const [, second] = rowsIn((await send()).stdout);
    const change = 'wrong1@example.com=Right <right@example.com>';
    const replaced = await home.object(
      argv`envelopes replace ${String(second?.envelopeId)} --signer ${change} --yes`,
    );
    const made = isRecord(replaced.new) ? replaced.new.id : undefined;
    const before = await relay.emails();
    for (const options of [{}, elsewhere]) {
      await people('wrong', 2);
      const old = await run(['--send'], options);
      expect(rowsIn(old.stdout)[1]).toMatchObject({ status: 'EXISTING', envelopeId: made });
      await write('email,name\nwrong0@example.com,wrong 0\nright@example.com,Right\n');
      const corrected = await run(['--send'], options);
      expect(rowsIn(corrected.stdout)[1]).toMatchObject({ status: 'EXISTING', envelopeId: made });
    }
    expect(await relay.emails()).toEqual(before);
  });
});

describe('an unfinished run whose list is run again', () => {
  it('is continued by the new run, in any notation and from any machine, and has ended', async () => {
    await people('same', 4);
    relay.intervene = keyRevokedAfter(2);
    await send();
    relay.intervene = () => undefined;
    const [{ id } = {}] = await runsHere();
    const lines = Array.from({ length: 4 }, (_, n) => `same ${n};same${n}@example.com\r\n`);
    await write(`\ufeffname;email\r\n${lines.join('')}`);
    const { stderr } = await home.run`bulk create rows.csv --template tmpl_nda --send --yes`;
    expect(stderr).toContain(String(id));
    // Four in the first run, of which two were refused.
    expect(creates()).toHaveLength(6);
    expect(await relay.emails()).toEqual(once('same', 4));
    expect((await runsHere()).slice(0, 2)).toMatchObject([
      { state: 'finished', done: 4 },
      { id, state: 'continued' },
    ]);
    const [{ id: by } = {}, { continuedBy } = {}] = await runsHere();
    expect(continuedBy).toBe(by);
    const status = await home.run(argv`bulk status ${String(id)}`);
    expect(status.code).toBe(0);
    const resumed = await home.run(argv`bulk resume ${String(id)} --yes --json`);
    expect(reportedError(resumed)).toMatchObject({
      exitCode: 5,
      hint: expect.stringContaining(String(by)) as unknown,
    });
    // The drafts that the new run has sent are no longer those of the old one.
    const canceled = await home.run(argv`envelopes cancel --run ${String(id)} --yes --json`);
    expect([canceled.code, canceled.stdout]).toEqual([0, '']);
    expect(await home.json`envelopes list --status DRAFT`).toEqual([]);
  });

  it('gets a new draft for a corrected row, and loses the drafts of rows that are gone', async () => {
    await people('draft', 3);
    relay.intervene = ({ path }) =>
      path.endsWith('/send') ? { status: 401, code: 'UNAUTHORIZED' } : undefined;
    await send();
    relay.intervene = () => undefined;
    expect(await home.json`envelopes list --status DRAFT`).toHaveLength(3);
    await write('email,name\ndraft0@example.com,Corrected\ndraft1@example.com,draft 1\n');
    const { stdout } = await send();
    expect(statuses({ stdout })).toEqual(['SENT', 'SENT']);
    const first = await home.object`envelopes get ${String(rowsIn(stdout)[0]?.envelopeId)}`;
    expect(first).toMatchObject({ signers: [{ name: 'Corrected' }] });
    expect(await relay.emails()).toEqual(once('draft', 2));
    expect(await home.json`envelopes list --status DRAFT`).toEqual([]);
    expect(creates()).toHaveLength(4);
  });

  it('sends the next rows if it is paused and the same command has --first', async () => {
    await people('next', 6);
    for (const count of [2, 4]) {
      expect((await send('--first', '2')).code).toBe(0);
      expect(await relay.emails()).toEqual(once('next', count));
      expect((await runsHere())[0]).toMatchObject({ state: 'paused' });
    }
    expect((await run(['--send'], elsewhere)).code).toBe(0);
    expect(await relay.emails()).toEqual(once('next', 6));
  });

  it('is not continued while another process works on it', async () => {
    await people('busy', 4);
    await send('--first', '2');
    const [{ id } = {}] = await runsHere();
    const release = await lockFile(home.path('state', 'runs', String(id), 'lock'), Error);
    expect(reportedError(await send())).toMatchObject({ exitCode: 2, run: id, outcome: 'none' });
    await release();
    expect(await relay.emails()).toEqual(once('busy', 2));
  });

  it('names a damaged journal, leaves it unchanged, and refuses the list', async () => {
    await people('torn', 3);
    await send('--first', '2');
    const [{ id } = {}] = await runsHere();
    const path = home.path('state', 'runs', String(id), 'journal.jsonl');
    const text = await readFile(path, 'utf8');
    const [header = ''] = text.split('\n');
    const damages = [text.replace('"type":"done"', '"type":"dome"'), '', '\0'.repeat(700), `${header}\n`];
    for (const damaged of damages) {
      await writeFile(path, damaged);
      const results = [
        await home.run`bulk status ${String(id)}`,
        await home.run`bulk resume ${String(id)} --yes`,
        await send(),
      ];
      for (const { code, stderr } of results) {
        expect([code, stderr]).toEqual([2, expect.stringMatching(/journal \S+ is damaged/)]);
        expect(stderr).toContain(path);
      }
      expect((await home.run`bulk list`).stderr).toContain('is damaged');
      expect(await readFile(path, 'utf8')).toBe(damaged);
    }
    await writeFile(path, text);
    expect(await relay.emails()).toEqual(once('torn', 2));
  });

  it('with a damaged newer run, the latest run is shown with a notice, and not acted on', async () => {
    await people('older', 3);
    await send('--first', '2');
    const [{ id: older } = {}] = await runsHere();
    await people('newer', 2);
    await send();
    const [{ id: newer } = {}] = await runsHere();
    await writeFile(home.path('state', 'runs', String(newer), 'journal.jsonl'), '');

    for (const words of ['bulk status --csv', 'bulk export']) {
      const { code, stdout, stderr } = await home.run(words.split(' '));
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^1,2,.*,SENT/m)]);
      expect(stderr).toContain(`${newer} is newer, but its journal is damaged. Showing ${older}.`);
    }
    for (const words of ['bulk resume --yes', 'envelopes cancel --run last --yes', 'late --run last']) {
      expect(reportedError(await home.run(`${words} --json`.split(' ')))).toMatchObject({
        exitCode: 2,
        run: newer,
        hint: expect.stringContaining(String(older)) as unknown,
      });
    }
    for (const words of ['bulk status -q', 'bulk list -q -L 1']) {
      const { code, stdout } = await home.run(words.split(' '));
      expect([code, stdout]).toEqual([2, '']);
    }
    expect((await home.run(argv`bulk resume ${String(older)} --yes`)).code).toBe(0);
    expect(await relay.emails()).toEqual({ ...once('older', 3), ...once('newer', 2) });
    await rm(home.path('state', 'runs', String(newer)), { recursive: true });
  });
});
