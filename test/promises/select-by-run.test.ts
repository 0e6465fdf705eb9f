import { writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, linesOf, reportedError } from '../support/cli.ts';

/* One run of three rows, next to an envelope that no run created. */
let home: Home;
let elsewhere: Record<string, string>;
let run = '';
let ids: string[] = [];
let other = '';

async function open(): Promise<void> {
  home = new Home();
  elsewhere = { ESIGN_STATE_DIR: home.path('elsewhere') };
  await home.sandbox();
  await writeFile(
    home.path('people.csv'),
    'email,name,meta.deal\nada@example.com,Ada,4711\nbo@example.com,Bo,4712\ncy@example.com,Cy,4711\n',
  );
  const sent = await home.run`bulk create people.csv --template tmpl_nda --send --yes --json`;
  const rows = linesOf(sent.stdout).map(parseJson).filter(isRecord);
  run = String(rows[0]?.run);
  ids = rows.toSorted((a, b) => Number(a.row) - Number(b.row)).map((row) => String(row.envelopeId));
  other = String(
    (await home.object`envelopes create --template tmpl_nda --signer a@b.c --metadata deal=4711`).id,
  );
}
const close = () => home.close();

const selected = async (words: readonly string[], env: Record<string, string> = {}) => {
  const { code, stdout } = await home.run(argv`${words} -q --all`, { env });
  return [code, linesOf(stdout).sort()];
};
const list = (...words: string[]) => selected(['envelopes', 'list', ...words]);

describe('a selection by run', () => {
  beforeAll(open);
  afterAll(close);

  it('contains the envelopes of the run, by its journal or by their metadata', async () => {
    const all = [0, ids.toSorted()];
    expect(await list('--run', 'last')).toEqual(all);
    expect(await list('--run', run)).toEqual(all);
    expect(await selected(argv`envelopes list --run ${run}`, elsewhere)).toEqual(all);
    expect(await selected(argv`envelopes list --run ${run}`, { ...elsewhere, ESIGN_NO_INDEX: '1' })).toEqual(
      all,
    );
    expect(await selected(argv`envelopes list --run ${run}`, { ESIGN_NO_INDEX: '1' })).toEqual(all);
    expect((await home.object`envelopes summary --run last`).total).toBe(3);
  });

  it('combines with the other conditions', async () => {
    expect(await list('--run', 'last', '--metadata', 'deal=4711')).toEqual([0, [ids[0], ids[2]].sort()]);
    expect(await list('--metadata', 'deal=4711')).toEqual([0, [ids[0], ids[2], other].sort()]);
    expect(await list('--metadata', 'deal=471')).toEqual([0, []]);
    expect(await list('--metadata', 'deal=4711', '--metadata', 'esignRow=3')).toEqual([0, [ids[2]]]);
    expect(await list('--run', 'last', '--status', 'DRAFT')).toEqual([0, []]);
    expect(await selected(['find', 'bo', '--run', 'last'])).toEqual([0, [ids[1]]]);
    expect(await selected(['find', 'bo', '--metadata', 'deal=4711'])).toEqual([0, []]);
  });

  it('refuses a run that is neither on this machine nor in any metadata', async () => {
    for (const line of [
      argv`envelopes list --run run-x`,
      argv`envelopes summary --run run-x`,
      argv`find ada --run run-x`,
    ]) {
      const ended = await home.run([...line, '--json']);
      expect([ended.code, reportedError(ended).code]).toEqual([4, 'NOT_FOUND']);
    }
    const none = await home.run(argv`envelopes list --run last`, { env: elsewhere });
    expect(none.code).toBe(2);
  });

  it.each([
    ['--metadata', 'deal'],
    ['--metadata', '=1'],
    ['--run', ''],
  ])('refuses %s "%s"', async (flag, value) => {
    const { code, stdout } = await home.run(['envelopes', 'list', flag, value]);
    expect([code, stdout]).toEqual([2, '']);
  });
});

describe('a selection by a run with replaced envelopes', () => {
  beforeEach(open);
  afterEach(close);

  it.each([
    ['in a list of whole envelopes', 'full'],
    ['in a list of summaries', 'summary'],
  ])('contains what replaced an envelope of the run, %s', async (_, items) => {
    await home.choose({ 'list-items': items });
    const flags = argv`--template tmpl_nda --send --yes --again --json`;
    const sent = await home.run(argv`bulk create people.csv ${flags}`);
    const rows = linesOf(sent.stdout).map(parseJson).filter(isRecord);
    const id = String(rows[0]?.run);
    const old = rows.map((row) => String(row.envelopeId));
    const replaced = await home.object`envelopes replace ${old[1] ?? ''} --subject Corrected --yes`;
    const made = isRecord(replaced.new) ? String(replaced.new.id) : '';
    const again = await home.object`envelopes replace ${made} --subject Again --yes`;
    const last = isRecord(again.new) ? String(again.new.id) : '';
    const all = [0, [...old, made, last].sort()];
    expect(await list('--run', id)).toEqual(all);
    for (const env of [{ ESIGN_NO_INDEX: '1' }, elsewhere, { ...elsewhere, ESIGN_NO_INDEX: '1' }])
      expect(await selected(argv`envelopes list --run ${id}`, env)).toEqual(all);
    const current = [old[0], old[2], last].sort();
    expect(await list('--run', id, '--status', 'SENT')).toEqual([0, current]);
  });
});
