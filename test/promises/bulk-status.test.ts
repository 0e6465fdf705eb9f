import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { COMMAND, Home, linesOf, reportedError, type Sandbox } from '../support/cli.ts';
import { openScreen } from '../support/pty.ts';

const home = new Home();
const elsewhere = { ESIGN_STATE_DIR: home.path('elsewhere') };
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await home.sandbox();
});
afterAll(() => home.close());

/** Sends a list of rows; returns the run and its envelopes in row order. */
async function sent(name: string, rows: readonly string[], ...flags: string[]) {
  await writeFile(home.path(name), rows.join('\n'));
  const done = await home.run(argv`bulk create ${name} --send --yes --again --json ${flags}`);
  const lines = linesOf(done.stdout).map(parseJson).filter(isRecord);
  const ordered = lines.toSorted((a, b) => Number(a.row) - Number(b.row));
  return { run: String(lines[0]?.run), ids: ordered.map(({ envelopeId }) => String(envelopeId)) };
}
async function status(words: readonly string[], env: Record<string, string> = {}) {
  const value = await home.json(['bulk', 'status', ...words], { env });
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
const statesOf = (lines: readonly Record<string, unknown>[]) =>
  lines.map(({ row, email, state }) => [row, email, state]);

const PAIR =
  'signer1_email,signer1_name,signer1_order,signer2_email,signer2_name,signer2_order,signing_order';
const pair = (n: number) => `a${n}@example.com,A${n},1,b${n}@example.com,B${n},2,SEQUENTIAL`;

describe('bulk status', () => {
  it('shows each signer, the current turn, and how each envelope ended', async () => {
    const { run, ids } = await sent(
      'pairs.csv',
      [PAIR, ...[1, 2, 3, 4, 5].map(pair)],
      ...argv`--template tmpl_lease --allow-missing-roles`,
    );
    const [one = '', two = '', three = '', four = ''] = ids;
    await home.run`sandbox sign ${one} --signer a1@example.com`;
    await home.run`sandbox sign ${one} --signer b1@example.com`;
    await home.run`sandbox sign ${two} --signer a2@example.com`;
    await home.run`sandbox sign ${three} --signer a3@example.com`;
    await home.run`sandbox decline ${three} --reason no`;
    await home.run`envelopes cancel ${four}`;
    const lines = await status([run]);
    expect(statesOf(lines)).toEqual([
      [1, 'a1@example.com', 'signed'],
      [1, 'b1@example.com', 'signed'],
      [2, 'a2@example.com', 'signed'],
      [2, 'b2@example.com', 'waiting'],
      [3, 'a3@example.com', 'signed'],
      [3, 'b3@example.com', 'declined'],
      [4, 'a4@example.com', 'cancelled'],
      [4, 'b4@example.com', 'cancelled'],
      [5, 'a5@example.com', 'waiting'],
      [5, 'b5@example.com', 'later'],
    ]);
    const [, , signed, waiting] = lines;
    expect(waiting).toMatchObject({
      requestId: `${run}-2`,
      envelopeId: two,
      envelopeStatus: 'IN_PROGRESS',
      name: 'B2',
      waitingSince: signed?.signedAt,
      signedAt: null,
      error: null,
    });
    expect(await status(argv`${run} --only waiting,later`)).toHaveLength(3);
    expect(linesOf((await home.run`bulk status ${run} --only waiting -q`).stdout)).toEqual([two, ids[4]]);
    expect(linesOf((await home.run`bulk status ${run} -q`).stdout)).toEqual(ids);
    const csv = await home.run`bulk status --last --only declined --csv --fields row,email`;
    expect(linesOf(csv.stdout)).toEqual(['row,email', '3,b3@example.com']);
    // Rows with an envelope don't need the journal.
    expect(await status([run], elsewhere)).toEqual(lines);
    expect(await status([run], { ...elsewhere, ESIGN_NO_INDEX: '1' })).toEqual(lines);
    const notice = await home.run(argv`bulk status ${run} --json`, { env: elsewhere });
    expect(notice.stderr).toContain(run);
  });

  it.each(['full', 'summary'])('requests no ended envelope twice, with %s list items', async (items) => {
    await home.choose({ 'list-items': items });
    const rows = Array.from({ length: 6 }, (_, n) => `c${n}@example.com,C${n}`);
    const { run, ids } = await sent('ended.csv', ['email,name', ...rows], '--template', 'tmpl_nda');
    for (const id of ids.slice(0, 4)) await home.run`sandbox sign ${id}`;
    await status([run]);
    const before = await requests();
    expect(await status([run])).toHaveLength(6);
    expect((await requests()) - before).toBeLessThanOrEqual(2 + 2);
    await home.choose({ 'list-items': 'full' });
  });

  it('shows refused rows and rows that are not created yet', async () => {
    await home.choose({ 'template-roles': 'hidden' });
    const rows = ['email,name,role', 'd1@example.com,D1,', 'd2@example.com,D2,Nobody', 'd3@example.com,D3,'];
    const { run } = await sent(
      'refused.csv',
      rows,
      ...argv`--template tmpl_nda --max-requests 3 --concurrency 1`,
    );
    const before = await status([run]);
    expect(before).toHaveLength(3);
    expect(before[2]).toMatchObject({ state: 'pending', envelopeId: null, name: 'D3' });
    await home.run`bulk resume ${run}`;
    await home.choose({ 'template-roles': 'shown' });
    const lines = await status(['--last']);
    expect(statesOf(lines)).toEqual([
      [1, 'd1@example.com', 'waiting'],
      [2, 'd2@example.com', 'failed'],
      [3, 'd3@example.com', 'waiting'],
    ]);
    expect(lines[1]).toMatchObject({ envelopeId: null, role: 'Nobody', error: { code: 'VALIDATION_ERROR' } });
    expect(statesOf(await status([run], elsewhere)).map(([row]) => row)).toEqual([1, 3]);
  });

  it('shows a replaced envelope, and the signers of the new one', async () => {
    const { run, ids } = await sent(
      'old.csv',
      ['email,name', 'e1@example.com,E1', 'e2@example.com,E2'],
      '--template',
      'tmpl_nda',
    );
    const [, old = ''] = ids;
    const change = 'e2@example.com=New <new@example.com>';
    const replaced = await home.object(['envelopes', 'replace', old, '--signer', change, '--yes']);
    const made = isRecord(replaced.new) ? replaced.new.id : undefined;
    for (const env of [{}, elsewhere, { ESIGN_NO_INDEX: '1' }]) {
      const lines = await status([run], env);
      expect(statesOf(lines)).toEqual([
        [1, 'e1@example.com', 'waiting'],
        [2, 'e2@example.com', 'replaced'],
        [2, 'new@example.com', 'waiting'],
      ]);
      expect(lines[1]).toMatchObject({ envelopeId: old, replacedBy: made });
      expect(lines[2]).toMatchObject({ envelopeId: made });
    }
  });

  it('shows a draft run, and a row whose envelope an earlier run sent', async () => {
    await writeFile(home.path('drafts.csv'), 'email,name\nf1@example.com,F1\n');
    await home.run`bulk create drafts.csv --template tmpl_nda`;
    expect(statesOf(await status([]))).toEqual([[1, 'f1@example.com', 'draft']]);
    const first = await sent('again.csv', ['email,name', 'g1@example.com,G1'], '--template', 'tmpl_nda');
    await writeFile(home.path('again.csv'), 'email,name\ng2@example.com,G2\ng1@example.com,G1\n');
    await home.run`bulk create again.csv --template tmpl_nda --send --yes`;
    const lines = await status([]);
    expect(statesOf(lines)).toEqual([
      [1, 'g2@example.com', 'waiting'],
      [2, 'g1@example.com', 'waiting'],
    ]);
    expect(lines[1]?.envelopeId).toBe(first.ids[0]);
  });

  it('shows the totals first on a terminal', async () => {
    const { run, ids } = await sent(
      'totals.csv',
      ['email,name', 'h1@example.com,H1', 'h2@example.com,H2'],
      '--template',
      'tmpl_nda',
    );
    await home.run`sandbox sign ${ids[0] ?? ''}`;
    const [program, ...before] = COMMAND;
    const screen = openScreen(program, [...before, 'bulk', 'status', run], { env: home.env, columns: 120 });
    await screen.shows('H2');
    const text = screen.text();
    expect(text.indexOf('1 signed, 1 waiting')).toBeGreaterThan(text.indexOf(run));
    expect(text.indexOf('1 signed, 1 waiting')).toBeLessThan(text.indexOf('H1'));
  });

  it('refuses a state and a run that do not exist', async () => {
    const wrong = await home.run`bulk status --only wating --json`;
    expect([wrong.code, reportedError(wrong).hint]).toEqual([2, expect.stringContaining('waiting')]);
    const unknown = await home.run`bulk status run-20200101-000000000-aaaaaaaa --json`;
    expect([unknown.code, reportedError(unknown).code]).toEqual([4, 'NOT_FOUND']);
    expect((await home.run(argv`bulk status --last`, { env: elsewhere })).code).toBe(2);
  });
});

async function requests(): Promise<number> {
  const headers = { authorization: `Bearer ${sandbox.apiKey}` };
  const reply = await fetch(new URL('/__sandbox/audit?pageSize=1', sandbox.baseUrl), { headers });
  const value = parseJson(await reply.text());
  const pagination = isRecord(value) && isRecord(value.meta) ? value.meta.pagination : undefined;
  return isRecord(pagination) ? Number(pagination.total) : Number.NaN;
}
