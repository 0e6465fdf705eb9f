import { existsSync } from 'node:fs';
import { copyFile, cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isList, isRecord } from '../../src/kernel/json.ts';
import { issue } from '../support/authorities.ts';
import { Home } from '../support/cli.ts';

const home = new Home();
const FOLDER = 'downloads';
let id: string;

const lines = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line));
const esign = (words: string, env: Record<string, string> = {}) => home.run(words.split(' '), { env });
const file = (what: string) => join(FOLDER, `${id}.${what}.pdf`);

beforeAll(async () => {
  const started = home.background`sandbox start --data data --port 0 --json`;
  await started.object();
  const created = await home.object(
    'envelopes create --template tmpl_nda --signer a@b.example --send'.split(' '),
  );
  id = String(created.id);
  await home.run`sandbox sign ${id}`;
  expect((await esign(`envelopes download ${id} --dir ${FOLDER}`)).code).toBe(0);
  expect((await esign(`envelopes download ${id} --dir ${FOLDER} --what document`)).code).toBe(0);
  await copyFile(home.path(file('document')), home.path('copy.pdf'));
});
afterAll(() => home.close());

async function verified(words: string, env: Record<string, string> = {}) {
  const { code, stdout } = await esign(`documents verify ${words} --json`, env);
  return { code, files: lines(stdout) };
}

describe('the seals of downloaded documents', () => {
  it('are pinned from the signed document and the certificate together, and from nothing else', async () => {
    const env = { ESIGN_STATE_DIR: home.path('new-pins') };
    const pins = () => home.json(['documents', 'pins'], { env });
    const envelope = await home.object`envelopes get ${id}`;
    const keys = [envelope.signedDocumentStorageKey, envelope.certificateStorageKey].map(String);
    for (const words of [
      `envelopes download ${id} --what document`,
      `envelopes download ${id} --what signed`,
      `envelopes download ${id} --what certificate,document`,
      `documents download ${keys.join(' ')}`,
    ]) {
      const { code, stdout } = await esign(`${words} --dir alone --json`, env);
      expect([words, code]).toEqual([words, 0]);
      for (const line of lines(stdout).filter(isRecord))
        if (isRecord(line.seal) && line.what !== 'document') expect(line.seal.trust).toBe('unknown');
      expect(await pins()).toEqual([]);
    }
    const { code, stdout } = await esign(`envelopes download ${id} --dir whole --json`, env);
    expect([code, lines(stdout)]).toMatchObject([
      0,
      [
        { what: 'signed', seal: { state: 'intact', coverage: 'whole', trust: 'pinned' }, problem: null },
        { what: 'certificate', seal: { trust: 'pinned' } },
      ],
    ]);
    expect(await pins()).toMatchObject([
      { profile: 'sandbox', fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown },
    ]);
  });

  it("are in the document behind an envelope's link, for up to 7 days", async () => {
    const { key, url } = await home.object`documents link ${id} --expires 7d`;
    expect(key).toBe((await home.object`envelopes get ${id}`).signedDocumentStorageKey);
    const reply = await fetch(String(url));
    expect(
      Buffer.from(await reply.arrayBuffer())
        .subarray(0, 5)
        .toString(),
    ).toBe('%PDF-');
    expect((await esign(`documents link ${id} --expires 8d`)).code).toBe(2);
  });

  it('are not checked on stdout, which a notice reports', async () => {
    const { code, stderr } = await esign(`envelopes download ${id} --what signed -o -`);
    expect([code, stderr]).toEqual([0, expect.stringContaining('seal was not checked')]);
  });

  it('are checked with the list of hashes; an unsealed document is neutral unless a seal is required', async () => {
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
    expect((await verified(`${FOLDER} --require-seal --require-list`)).code).toBe(0);
    const required = await verified('copy.pdf --require-seal');
    expect(required).toMatchObject({ code: 9, files: [{ error: { code: 'SEAL_MISSING' } }] });
    expect((await verified(`${file('signed')} --require-seal`)).code).toBe(0);
  });

  it('are reported for a new signer until that signer is accepted', async () => {
    const env = { ESIGN_STATE_DIR: home.path('other-pins') };
    await cp(home.path('state'), env.ESIGN_STATE_DIR, { recursive: true });
    const pins = await home.json(['documents', 'pins'], { env });
    const [pin] = isList(pins) ? pins : [];
    const real = isRecord(pin) ? String(pin.fingerprint) : '';
    expect(real).toMatch(/^[0-9a-f]{64}$/);
    const tried = async (change: string) =>
      (await esign(`documents pins ${change} --dry-run -q`, env)).stdout;
    expect(await tried(`--accept ${'ab'.repeat(32)}`)).toBe(`${real}\n${'ab'.repeat(32)}\n`);
    expect(await tried(`--forget ${real}`)).toBe('');
    expect((await esign('documents pins --forget zz --dry-run', env)).code).toBe(2);
    expect(await home.json(['documents', 'pins'], { env })).toEqual(pins);
    expect((await esign(`documents pins --accept ${'ab'.repeat(32)}`, env)).code).toBe(0);
    expect((await esign(`documents pins --forget ${real.slice(0, 12)}`, env)).code).toBe(0);
    const other = await verified(file('signed'), env);
    expect(other).toMatchObject({
      code: 9,
      files: [{ seal: { trust: 'other' }, error: { code: 'SEAL_OTHER' } }],
    });
    expect((await esign(`documents pins --accept ${real}`, env)).code).toBe(0);
    expect(await verified(file('signed'), env)).toMatchObject({
      code: 0,
      files: [{ seal: { trust: 'pinned' } }],
    });
    expect((await esign(`documents pins --forget ${'cd'.repeat(32)}`, env)).code).toBe(2);
    expect((await esign('documents pins --accept abc', env)).code).toBe(2);
  });

  it('prevent a download while the pins are unreadable', async () => {
    const env = { ESIGN_STATE_DIR: home.path('damaged-pins') };
    await cp(home.path('state'), env.ESIGN_STATE_DIR, { recursive: true });
    await writeFile(home.path('damaged-pins', 'seals.json'), '{');
    const { code, stdout } = await esign(`envelopes download ${id} --dir unchecked --json`, env);
    expect([code, stdout, existsSync(home.path('unchecked'))]).toEqual([2, '', false]);
  });

  it('must be made by the required signer, even without a pin', async () => {
    const env = { ESIGN_STATE_DIR: home.path('no-pins') };
    const judged = async (words: string) => {
      const { code, stdout } = await home.run(
        `documents verify ${file('signed')} --json ${words}`.split(' '),
        {
          env,
        },
      );
      const [line] = lines(stdout);
      return isRecord(line) && isRecord(line.seal) ? [code, line.seal.trust, line.seal.fingerprint] : [code];
    };
    const [code, trust, fingerprint] = await judged('--require-seal');
    expect([code, trust]).toEqual([0, 'unknown']);
    const other = await issue({ name: 'Other', authority: true });
    await writeFile(home.path('other.pem'), other.pem);
    expect(await judged('--trust other.pem')).toEqual([9, 'unknown', fingerprint]);
    expect(await judged(`--sealed-by ${'ab'.repeat(32)}`)).toEqual([9, 'unknown', fingerprint]);
    expect(await judged(`--sealed-by ${String(fingerprint)}`)).toEqual([0, 'pinned', fingerprint]);
    expect(await judged('--sealed-by abc')).toEqual([2]);
  });

  it("don't verify a download if no list names the file", async () => {
    const said = await esign('documents verify copy.pdf');
    expect(said.stderr).toMatch(/1 file checked; 1 .*SHA256SUMS/);
    expect(said.stderr).not.toContain('match');
    expect((await verified('copy.pdf --require-list')).code).toBe(9);
  });

  it('exit with 9 and the reason if they are broken or extended', async () => {
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
    expect(said.stderr).toContain('was sealed');
    expect((await esign('documents verify missing.pdf')).code).toBe(2);
  });

  it('pin nothing in an ephemeral sandbox', async () => {
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
