import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isList, isRecord } from '../../src/kernel/json.ts';
import { Home } from '../support/cli.ts';

const home = new Home();
const FOLDER = 'papers';
let id: string;

const lines = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line));
const esign = (words: string) => home.run(words.split(' '));
const file = (what: string) => join(FOLDER, `${id}.${what}.pdf`);

beforeAll(async () => {
  const started = home.start`sandbox start --data data --port 0 --json`;
  await started.object();
  const created = await home.object(
    'envelopes create --template tmpl_nda --signer a@b.example --send'.split(' '),
  );
  id = String(created.id);
  await home.run`sandbox sign ${id}`;
});
afterAll(() => home.close());

async function verified(words: string) {
  const { code, stdout } = await esign(`documents verify ${words} --json`);
  return { code, files: lines(stdout) };
}

describe('the seals of downloaded papers', () => {
  it('are named by the download, which pins the first one', async () => {
    const { code, stdout } = await esign(
      `envelopes download ${id} --dir ${FOLDER} --what signed,document --json`,
    );
    expect(code).toBe(0);
    const signed = lines(stdout).find((line) => isRecord(line) && line.what === 'signed');
    expect(signed).toMatchObject({ seal: { state: 'intact', coverage: 'whole', trust: 'pinned' } });
    const pins = await home.json`documents pins`;
    expect(pins).toMatchObject([
      { profile: 'sandbox', fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown },
    ]);
    const again = await esign(`envelopes download ${id} --dir ${FOLDER}`);
    expect(again.code).toBe(0);
  });

  it('are checked with the list of hashes; a paper without one is neutral unless it is required', async () => {
    const all = await verified(FOLDER);
    expect(all.code).toBe(0);
    expect(all.files).toHaveLength(3);
    expect(all.files).toContainEqual(
      expect.objectContaining({
        path: file('document'),
        list: 'ok',
        seal: expect.objectContaining({ state: 'unsigned' }) as unknown,
      }),
    );
    const required = await verified(`${FOLDER} --require-seal`);
    expect(required.code).toBe(9);
    expect(required.files).toContainEqual(
      expect.objectContaining({
        path: file('document'),
        error: expect.objectContaining({ code: 'SEAL_MISSING' }) as unknown,
      }),
    );
    expect((await verified(`${file('signed')} --require-seal`)).code).toBe(0);
  });

  it('of another signer than the first one are pointed out, until that one is accepted', async () => {
    const pins = await home.json`documents pins`;
    const [pin] = isList(pins) ? pins : [];
    const real = isRecord(pin) ? String(pin.fingerprint) : '';
    expect(real).toMatch(/^[0-9a-f]{64}$/);
    expect((await esign(`documents pins --accept ${'ab'.repeat(32)}`)).code).toBe(0);
    expect((await esign(`documents pins --forget ${real.slice(0, 12)}`)).code).toBe(0);
    const other = await verified(file('signed'));
    expect(other).toMatchObject({
      code: 9,
      files: [{ seal: { trust: 'other' }, error: { code: 'SEAL_OTHER' } }],
    });
    expect((await esign(`documents pins --accept ${real}`)).code).toBe(0);
    expect(await verified(file('signed'))).toMatchObject({ code: 0, files: [{ seal: { trust: 'pinned' } }] });
    expect((await esign(`documents pins --forget ${'cd'.repeat(32)}`)).code).toBe(2);
    expect((await esign('documents pins --accept abc')).code).toBe(2);
  });

  it('that were broken or added to end with 9, and say how', async () => {
    const whole = await readFile(home.path(file('signed')));
    const changed = Buffer.from(whole);
    changed[100] = (changed[100] ?? 0) ^ 1;
    await writeFile(home.path('changed.pdf'), changed);
    await writeFile(home.path('added.pdf'), Buffer.concat([whole, Buffer.from('\n% more\n')]));
    const { code, files } = await verified('changed.pdf added.pdf');
    expect(code).toBe(9);
    expect(files).toMatchObject([
      { path: 'changed.pdf', list: 'unlisted', seal: { state: 'changed' }, error: { code: 'SEAL_CHANGED' } },
      { path: 'added.pdf', seal: { state: 'intact', coverage: 'extended', addedBytes: 8 } },
    ]);
    const said = await esign('documents verify added.pdf');
    expect(said.stderr).toContain('added after the file was sealed');
    expect((await esign('documents verify missing.pdf')).code).toBe(2);
  });

  it('of a sandbox that ends with its folder pin nothing', async () => {
    const other = new Home();
    try {
      await other.sandbox();
      const created = await other.object(
        'envelopes create --template tmpl_nda --signer a@b.example --send'.split(' '),
      );
      await other.run`sandbox sign ${String(created.id)}`;
      const { code } = await other.run`envelopes download ${String(created.id)}`;
      expect([code, await other.json`documents pins`]).toEqual([0, []]);
    } finally {
      await other.close();
    }
  });
});
