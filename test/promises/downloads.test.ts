import { createHash } from 'node:crypto';
import { appendFile, copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, jsonLines, linesOf, reportedError, type Sandbox } from '../support/cli.ts';
import { openCommand } from '../support/pty.ts';

const home = new Home();
let sandbox: Sandbox;
/** Two completed envelopes. */
const ids: string[] = [];
let id: string;
let key: string;

beforeAll(async () => {
  sandbox = await home.sandbox();
  for (const name of ['ada', 'bob']) {
    const created = await home.object`envelopes create --template tmpl_nda --signer ${name}@b.example --send`;
    ids.push(String(created.id));
    await home.run`sandbox sign ${ids.at(-1) ?? ''}`;
  }
  id = ids[0] ?? '';
  key = String((await home.object`envelopes get ${id}`).signedDocumentStorageKey);
});

const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const pdfsIn = async (dir: string) =>
  (await readdir(home.path(dir), { recursive: true })).filter((name) => name.endsWith('.pdf')).sort();
const statuses = (stdout: string) =>
  jsonLines(stdout).map((line) => (isRecord(line) ? line.status : undefined));

describe('envelopes download', () => {
  it('saves verified documents, listed for sha256sum, and downloads nothing again', async () => {
    const first = await home.run`envelopes download ${ids} --dir archive --json`;
    expect(first.code).toBe(0);
    const signed = await readFile(home.path('archive', `${id}.signed.pdf`));
    expect(signed.subarray(0, 5).toString()).toBe('%PDF-');
    expect(jsonLines(first.stdout)).toMatchObject([
      {
        envelopeId: id,
        what: 'signed',
        key,
        status: 'downloaded',
        error: null,
        sha256: hash(signed),
        bytes: signed.byteLength,
      },
      { envelopeId: id, what: 'certificate', status: 'downloaded' },
      { envelopeId: ids[1], what: 'signed' },
      { envelopeId: ids[1], what: 'certificate' },
    ]);
    const check = await home.shell('cd archive && sha256sum -c --strict SHA256SUMS');
    expect([check.code, linesOf(check.stdout).length]).toEqual([0, 4]);
    // The bucket is asked only for the metadata of each file.
    const again = await home.run`envelopes download ${ids} --dir archive --debug`;
    expect(linesOf(again.stdout).map((line) => line.split('\t')[0])).toEqual(Array(4).fill('unchanged'));
    expect(again.stderr.match(/→ HEAD \S+\.pdf$/gm)).toHaveLength(4);
    expect(again.stderr).not.toMatch(/→ GET \S+\.pdf$/m);
    expect(again.stderr).not.toMatch(/X-Amz-Signature|AWS4-HMAC/);
    expect((await readdir(home.path('archive'))).sort()).toEqual(
      ['SHA256SUMS', ...(await pdfsIn('archive'))].sort(),
    );
  });

  it('shows on a terminal only the problems of many files, and who sealed them, as verify does', async () => {
    const more = ['cy', 'dee', 'eve'].map(
      (name) => `envelopes create --template tmpl_nda --signer ${name}@b.example`,
    );
    const all = [...ids];
    for (const words of more) all.push(String((await home.object(argv`${words.split(' ')} --send`)).id));
    for (const one of all.slice(2)) await home.run`sandbox sign ${one}`;
    const many = home.path('many');
    // Lines are broken by the length of the path.
    const screenOf = async (...words: string[]) => {
      const screen = openCommand(home, words);
      const { code } = await screen.ended;
      return { code, text: screen.text().replaceAll(/\s+/g, ' ') };
    };
    const saved = await screenOf('envelopes', 'download', ...all, '--dir', many);
    expect(saved.text).toMatch(/^Saved 10 files in \S+many\. All are sealed by esign sandbox/);
    const piped = await home.run(argv`envelopes download ${all} --dir ${home.path('piped')}`);
    expect([linesOf(piped.stdout).map((line) => line.split('\t')[0]), piped.stderr]).toEqual([
      Array(10).fill('downloaded'),
      '',
    ]);
    const verified = await screenOf('documents', 'verify', many);
    expect(verified.text).toMatch(
      /^10 files checked; all match SHA256SUMS\. All are sealed by esign sandbox/,
    );
    const grown = home.path('grown');
    await mkdir(grown);
    for (const name of (await readdir(many)).filter((one) => one.endsWith('.pdf')))
      await copyFile(join(many, name), join(grown, name));
    await appendFile(join(grown, `${id}.signed.pdf`), '\n% added later\n');
    const parts = await screenOf('documents', 'verify', grown, '--sealed-part', home.path('parts'));
    expect(parts.text).toMatch(
      /9 files are sealed by esign sandbox.*; 1 file is sealed only in part by esign sandbox/,
    );
    await writeFile(home.path('many', `${id}.signed.pdf`), '%PDF-1.7 changed');
    const changed = await screenOf('documents', 'verify', many);
    expect([changed.code, changed.text]).toEqual([
      9,
      expect.stringMatching(/^✗ .*Error: 1 of 10 files failed/),
    ]);
    const kept = await screenOf('envelopes', 'download', ...all, '--dir', many);
    expect(kept.text).toMatch(/already exists.*9 files unchanged\. 9 files are sealed.*1 of 10 files failed/);
  });

  it('writes a single file only into a folder that exists', async () => {
    const { code, stderr } = await home.run`envelopes download ${id} --what signed -o nowhere/x.pdf`;
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("Can't write nowhere/x.pdf: its folder does not exist."),
    ]);
    await expect(readFile(home.path('nowhere/x.pdf'))).rejects.toThrow('ENOENT');
  });

  it('reads each envelope once', async () => {
    const { stderr } = await home.run`envelopes download ${ids} --dir once --debug`;
    expect(stderr.match(/GET \S+\/esign\/envelopes\/env_\w+$/gm)?.length ?? 0).toBe(2);
  });

  it('keeps a different file with the same name unless forced', async () => {
    await writeFile(home.path('mine.pdf'), 'mine');
    const args = ['envelopes', 'download', id, '--what', 'signed', '-o', 'mine.pdf'];
    expect((await home.run(args)).code).toBe(9);
    expect(await readFile(home.path('mine.pdf'), 'utf8')).toBe('mine');
    expect(await home.run`${args} --force`).toMatchObject({ code: 0 });
    expect((await readFile(home.path('mine.pdf'))).subarray(0, 5).toString()).toBe('%PDF-');
  });

  it('reports failures: unknown, and some of several', async () => {
    const unknown = await home.run`envelopes download env_missing`;
    const input = `${id}\nenv_missing\n`;
    const some = await home.run('envelopes download - --what signed --dir some --json'.split(' '), { input });
    expect([unknown.code, unknown.stdout, some.code]).toEqual([4, '', 10]);
    expect(jsonLines(some.stdout)).toMatchObject([
      { status: 'downloaded' },
      { status: 'failed', error: { code: 'NOT_FOUND' } },
    ]);
  });

  it.each<[string, string[], string]>([
    ['unfinished', [], 'is DRAFT: '],
    ['ended', ['cancel'], 'is CANCELLED: '],
  ])('reports once, with the reason, that an envelope that is %s has no documents', async (_, acts, why) => {
    const draft = String((await home.object`envelopes create --template tmpl_nda --signer a@b.c`).id);
    for (const act of acts) await home.run`envelopes ${act} ${draft} --yes`;
    const { code, stdout, stderr } = await home.run`envelopes download ${draft}`;
    expect([code, stdout]).toEqual([9, '']);
    expect(stderr.split(why)).toHaveLength(2);
    expect(linesOf(stderr)).toHaveLength(2);
    expect(stderr).toContain(`esign envelopes download ${draft} --what document`);
    expect(stderr.includes('watch')).toBe(acts.length === 0);
  });

  it('arranges files by a template, and reports what it could not look up', async () => {
    const layout = '{completedAt:yyyy-MM}/{templateName}/{envelopeId}.{what}.pdf';
    const words = ['--what', 'signed', '--dir', 'laid', '--name-template', layout, '--json'];
    const { code, stdout } = await home.run`envelopes download ${[id, 'env_missing']} ${words}`;
    expect([code, statuses(stdout)]).toEqual([10, ['downloaded', 'failed']]);
    expect(await pdfsIn('laid')).toEqual([
      expect.stringMatching(/^\d{4}-\d\d\/[^/]+\/env_\w+\.signed\.pdf$/),
    ]);
    expect((await home.shell('cd laid && sha256sum -c SHA256SUMS')).code).toBe(0);
  });

  it('stays inside its folder for any template, and saves only one of two files with the same name', async () => {
    const layout = '../../{subject}/../{envelopeId}.{what}.pdf';
    await home.run`envelopes download ${ids} --dir inside --name-template ${layout}`;
    expect(await pdfsIn('inside')).toHaveLength(4);
    expect((await readdir(home.folder)).filter((name) => name.endsWith('.signed.pdf'))).toEqual([]);
    const meeting = '{templateName}.pdf';
    const met = await home.run`envelopes download ${ids} --dir met --name-template ${meeting} --force`;
    expect([met.code, met.stderr]).toEqual([10, expect.stringContaining('has the same name')]);
    expect(await pdfsIn('met')).toEqual(['Confidentiality undertaking.pdf']);
  });
});

describe('documents download', () => {
  it('requests no envelope that a search has shown to be final', async () => {
    const several: string[] = [];
    for (let n = 0; n < 6; n++) {
      const made =
        await home.object`envelopes create --template tmpl_nda --signer ${`many${n}`}@b.example --send`;
      several.push(String(made.id));
      await home.run`sandbox sign ${several.at(-1) ?? ''}`;
    }
    const readsOf = async (dir: string) => {
      const { code, stderr } = await home.run`envelopes download ${several} --dir ${dir} --debug`;
      expect([code, (await pdfsIn(dir)).length]).toEqual([0, 12]);
      return stderr.split('\n').filter((line) => /\bGET http.*\/envelopes\/env_/.test(line)).length;
    };
    expect(await readsOf('before')).toBe(6);
    await home.run`find many`;
    expect(await readsOf('after')).toBe(0);
  });

  it('downloads by key, to a folder or to stdout, from arguments or stdin', async () => {
    const file = await home.run('documents download - --dir out --json'.split(' '), { input: `${key}\n` });
    expect(parseJson(file.stdout)).toMatchObject({ key, what: 'signed', status: 'downloaded' });
    const streamed = await home.run`documents download ${key} -o -`;
    expect([streamed.code, streamed.stdout.slice(0, 5)]).toEqual([0, '%PDF-']);
    expect(streamed.stderr).toContain('seal was not checked');
    const refused = await home.run`documents download ${key} -o new/ --json`;
    expect([refused.code, reportedError(refused).code]).toEqual([2, 'USAGE']);
  });

  it('prints no document on a terminal, on which it could act', async () => {
    const screen = openCommand(home, argv`documents download ${key} -o -`);
    expect((await screen.ended).code).toBe(2);
    expect(screen.raw()).toContain('not printed on a terminal');
    expect(screen.raw()).not.toContain('%PDF-');
  });
});

describe('documents link', () => {
  it('prints a link to a key or an envelope that works without credentials, for up to 7 days', async () => {
    const { stdout, stderr } = await home.run`documents link ${key} --expires 1m --debug`;
    expect(stderr).not.toContain('X-Amz-Signature');
    const linked = await home.object`documents link ${id} --expires 7d`;
    expect(linked.key).toBe(key);
    for (const url of [stdout.trim(), String(linked.url)]) {
      const body = Buffer.from(await (await fetch(url)).arrayBuffer());
      expect(body.subarray(0, 5).toString()).toBe('%PDF-');
    }
    expect((await home.run`documents link ${id} --expires 8d`).code).toBe(2);
    const missing = await home.run`documents link no/such.pdf --json`;
    expect([missing.code, reportedError(missing).code]).toEqual([9, 'STORAGE_NOT_FOUND']);
  });
});

describe('an AWS profile', () => {
  const add = async (name: string, awsProfile: string, ...more: string[]) => {
    await writeFile(home.path('api.key'), sandbox.apiKey);
    const words = ['--base-url', sandbox.baseUrl, '--api-key-file', 'api.key'];
    const storage = ['--bucket', String(sandbox.ready.bucket), '--aws-profile', awsProfile];
    return (await home.run`profiles add ${name} ${[...words, ...storage, ...more]}`).code;
  };

  it('provides credentials, region, and a custom endpoint; one that is missing is named', async () => {
    const { endpoint, accessKeyId, secretAccessKey } = sandbox.ready;
    await mkdir(home.path('.aws'));
    const config = `[profile team]\nregion = us-east-1\nendpoint_url = ${String(endpoint)}\n`;
    await writeFile(home.path('.aws', 'config'), config);
    const keys = [
      `aws_access_key_id = ${String(accessKeyId)}`,
      `aws_secret_access_key = ${String(secretAccessKey)}`,
    ];
    await writeFile(home.path('.aws', 'credentials'), `[team]\n${keys.join('\n')}\n`);
    expect(await add('by-aws', 'team')).toBe(0);
    const { code, stderr } = await home.run`envelopes download ${id} -p by-aws --dir by-aws`;
    expect([code, stderr, (await pdfsIn('by-aws')).length]).toEqual([0, '', 2]);
    expect(await add('without-aws', 'gone', '--region', 'us-east-1', '--no-verify')).toBe(0);
    const finished = await home.run`documents download ${key} -p without-aws --wait 0s`;
    expect([finished.code, finished.stderr]).toEqual([9, expect.stringContaining('gone')]);
  });
});
