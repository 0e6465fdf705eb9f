import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { COMMAND, Home, linesOf, reportedError } from '../support/cli.ts';
import { openScreen } from '../support/pty.ts';

/* Commands that send, remind, cancel, watch, and download take a selection instead of IDs. */
const home = new Home();
beforeAll(async () => {
  await home.sandbox();
});
afterAll(() => home.close());

let lists = 0;
/** Creates a run with different signers in each row. Returns its ID and the IDs of its envelopes in row order. */
async function runOf(rows: number, ...flags: string[]) {
  const name = `list${++lists}`;
  const lines = Array.from({ length: rows }, (_, n) => `${name}.${n}@example.com,Signer ${n}`);
  await writeFile(home.path(`${name}.csv`), `email,name\n${lines.join('\n')}\n`);
  const { stdout } = await home.run(argv`bulk create ${name}.csv --template tmpl_nda --yes --json ${flags}`);
  const done = linesOf(stdout).map(parseJson).filter(isRecord);
  const ids = done.toSorted((a, b) => Number(a.row) - Number(b.row)).map((row) => String(row.envelopeId));
  return { run: String(done[0]?.run), ids, name };
}
const statusOf = async (id: string) => (await home.object`envelopes get ${id}`).status;
const mailsTo = async (address: string) => {
  const mails = await home.json`sandbox mails --to ${address}`;
  return Array.isArray(mails) ? mails.length : 0;
};
const idsIn = (stdout: string) =>
  linesOf(stdout)
    .map(parseJson)
    .filter(isRecord)
    .map(({ id }) => id)
    .sort();

describe('an action on a selection', () => {
  it('sends the drafts of a run, and only those', async () => {
    const { run, ids } = await runOf(3);
    await home.run`envelopes cancel ${ids[0] ?? ''}`;
    const { code, stdout, stderr } = await home.run`envelopes send --run ${run} --yes --json`;
    expect([code, idsIn(stdout)]).toEqual([0, ids.slice(1).sort()]);
    expect(stderr).toContain('1 CANCELLED');
    expect(await Promise.all(ids.map(statusOf))).toEqual(['CANCELLED', 'SENT', 'SENT']);
    const again = await home.run`envelopes send --run ${run} --yes`;
    expect([again.code, again.stdout]).toEqual([0, '']);
    expect(again.stderr).toContain('3');
  });

  it('reminds those who have not signed; --signer limits the reminder', async () => {
    const { run, ids, name } = await runOf(3, '--send');
    await home.run`sandbox sign ${ids[0] ?? ''}`;
    const { code, stdout, stderr } = await home.run`envelopes remind --run ${run} --yes --json`;
    expect([code, idsIn(stdout)]).toEqual([0, ids.slice(1).sort()]);
    expect(stderr).toContain('1 COMPLETED');
    const flags = argv`--run ${run} --signer ${name}.2@example.com --yes --json`;
    const one = await home.run(argv`envelopes remind ${flags}`);
    expect([one.code, idsIn(one.stdout)]).toEqual([0, [ids[2]]]);
    expect(await Promise.all([1, 2].map((n) => mailsTo(`${name}.${n}@example.com`)))).toEqual([2, 3]);
    const alone = await home.run`envelopes remind --signer ${name}.2@example.com`;
    expect(alone.code).toBe(2);
  });

  it('cancels a run except for ended envelopes', async () => {
    const { run, ids } = await runOf(3, '--send');
    await home.run`sandbox sign ${ids[0] ?? ''}`;
    await home.run`sandbox decline ${ids[1] ?? ''} --reason no`;
    const refused = await home.run`envelopes cancel --run ${run}`;
    expect([refused.code, await statusOf(ids[2] ?? '')]).toEqual([0, 'CANCELLED']);
    expect(await Promise.all(ids.map(statusOf))).toEqual(['COMPLETED', 'DECLINED', 'CANCELLED']);
    expect((await home.run`envelopes cancel --run ${run} --even-if-declined`).code).toBe(0);
    expect(await statusOf(ids[1] ?? '')).toBe('CANCELLED');
  });

  it('requires --yes for more than one envelope, and reports the number and the first few', async () => {
    const { run, ids } = await runOf(2, '--send');
    const { code, stderr } = await home.run`envelopes cancel --run ${run}`;
    expect(code).toBe(2);
    for (const text of [...ids, '2 envelopes', '--yes']) expect(stderr).toContain(text);
    expect(reportedError(await home.run`envelopes cancel --run ${run} --json`).code).toBe('USAGE');
    const dry = await home.run`envelopes cancel --run ${run} --dry-run --json`;
    expect([dry.code, idsIn(dry.stdout)]).toEqual([0, ids.toSorted()]);
    expect(await Promise.all(ids.map(statusOf))).toEqual(['SENT', 'SENT']);
    const [program, ...before] = COMMAND;
    const words = [...before, 'envelopes', 'cancel', '--run', run];
    const screen = openScreen(program, words, { env: home.env, columns: 120 });
    await screen.shows('Cancel 2 envelopes?');
    expect(screen.text()).toContain('for Signer 0');
    screen.type('y\r');
    await screen.ended;
    expect(await Promise.all(ids.map(statusOf))).toEqual(['CANCELLED', 'CANCELLED']);
  });

  it('leaves out a draft that only replace may send', async () => {
    const { run, ids } = await runOf(1, '--send');
    await home.run`envelopes replace ${ids[0] ?? ''} --subject New --draft --yes`;
    const { code, stdout, stderr } = await home.run`envelopes send --run ${run} --yes`;
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain('esign envelopes replace');
  });

  it('watches a run to its end, and follows replaced envelopes', async () => {
    const { run, ids } = await runOf(2, '--send');
    const [first = '', second = ''] = ids;
    const replaced = await home.object`envelopes replace ${second} --subject New --yes`;
    const made = isRecord(replaced.new) ? String(replaced.new.id) : '';
    for (const id of [first, made]) await home.run`sandbox sign ${id}`;
    const { code, stdout } = await home.run`envelopes watch --run ${run} --timeout 100s --json`;
    const watched = linesOf(stdout).map(parseJson).filter(isRecord);
    expect([code, watched.map(({ envelopeId }) => envelopeId).sort()]).toEqual([0, [first, made].sort()]);
  });

  it('downloads the completed documents of a run', async () => {
    const { run, ids } = await runOf(2, '--send');
    await home.run`sandbox sign ${ids[0] ?? ''}`;
    const { code, stdout, stderr } = await home.run`envelopes download --run ${run} --dir done --json`;
    const files = linesOf(stdout).map(parseJson).filter(isRecord);
    expect([code, files.map(({ what, status }) => [what, status])]).toEqual([
      0,
      [
        ['signed', 'downloaded'],
        ['certificate', 'downloaded'],
      ],
    ]);
    expect(stderr).toContain('1 SENT');
    const all = await home.run`envelopes download --run ${run} --what signed,document --dir all --json`;
    expect([all.code, linesOf(all.stdout).length]).toEqual([0, 3]);
  });

  it.each(['send', 'remind', 'cancel', 'watch', 'download'])(
    'takes exactly one of IDs, stdin, and --run, and no filters: %s',
    async (verb) => {
      const takesAll = ['remind', 'download'].includes(verb);
      const mixed = [[], ['env_1', '--run', 'last'], ['-', '--run', 'last'], ['env_1', '-']];
      const withAll = [
        ['env_1', '--all'],
        ['--all', '--run', 'last'],
      ];
      for (const words of [...mixed, ...withAll, ...(takesAll ? [] : [['--all']])])
        expect((await home.run(['envelopes', verb, ...words], { input: 'env_1\n' })).code).toBe(2);
      expect((await home.run(['envelopes', verb, '--template', 'tmpl_nda'])).code).toBe(2);
      expect((await home.run(['envelopes', verb, '--run', 'run-x'])).code).toBe(4);
    },
  );
});
