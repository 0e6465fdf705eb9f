import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, reportedError, type Sandbox } from '../support/cli.ts';

const home = new Home();
let id = '';
let key = '';
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await home.sandbox();
  const draft = [
    'envelopes',
    'create',
    '--template',
    'tmpl_nda',
    '--signer',
    'Ada <ada@example.com>',
    '--send',
  ];
  id = String((await home.object(draft)).id);
  const signed = await home.object`sandbox sign ${id}`;
  key = String(signed.signedDocumentStorageKey);
});
afterAll(() => home.close());

const lines = (text: string) => text.trimEnd().split('\n');
const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe('envelopes download', () => {
  it('saves the verified signed PDF and certificate; a rerun changes nothing', async () => {
    const first = await home.run`envelopes download ${id} --dir downloads --json`;
    const results = lines(first.stdout).map(parseJson);
    expect(results).toMatchObject([
      { envelopeId: id, what: 'signed', key, status: 'downloaded', error: null },
      { envelopeId: id, what: 'certificate', status: 'downloaded' },
    ]);
    const signed = await readFile(home.path('downloads', `${id}.signed.pdf`));
    expect(signed.subarray(0, 5).toString()).toBe('%PDF-');
    expect(results[0]).toMatchObject({ sha256: hash(signed), bytes: signed.byteLength });
    const again = await home.run`envelopes download ${id} --dir downloads`;
    expect(lines(again.stdout).map((line) => line.split('\t')[0])).toEqual(['unchanged', 'unchanged']);
    expect((await readdir(home.path('downloads'))).sort()).toEqual([
      'SHA256SUMS',
      `${id}.certificate.pdf`,
      `${id}.signed.pdf`,
    ]);
  });

  it('keeps a different file with the same name unless forced', async () => {
    await writeFile(home.path('mine.pdf'), 'mine');
    const args = ['envelopes', 'download', id, '--what', 'signed', '-o', 'mine.pdf'];
    expect((await home.run(args)).code).toBe(9);
    expect(await readFile(home.path('mine.pdf'), 'utf8')).toBe('mine');
    expect(await home.run`${args} --force`).toMatchObject({ code: 0 });
    expect((await readFile(home.path('mine.pdf'))).subarray(0, 5).toString()).toBe('%PDF-');
  });

  it('reports failures: not completed, unknown, some of several', async () => {
    const draft = await home.object`envelopes create --template tmpl_nda --signer a@b.c`;
    const [early, unknown, some] = [
      await home.run`envelopes download ${String(draft.id)} --json`,
      await home.run`envelopes download env_missing`,
      await home.run(argv`envelopes download - --what signed --dir some --json`, {
        input: `${id}\nenv_missing\n`,
      }),
    ];
    expect([early.code, unknown.code, some.code]).toEqual([9, 4, 10]);
    expect(early.stdout).toContain('STORAGE_NOT_READY');
    expect(unknown.stdout).toBe('');
    expect(lines(some.stdout).map(parseJson)).toMatchObject([
      { status: 'downloaded' },
      { status: 'failed', error: { code: 'NOT_FOUND' } },
    ]);
  });

  it.each<[string, string[], string]>([
    ['unfinished', [], 'is DRAFT: '],
    ['ended', ['cancel'], 'is CANCELLED: '],
  ])('reports once, with the reason, that an envelope that is %s has no documents', async (_, acts, why) => {
    const words = 'envelopes create --template tmpl_nda --signer a@b.c';
    const draft = String((await home.object(words.split(' '))).id);
    for (const act of acts) await home.run`envelopes ${act} ${draft} --yes`;
    const { code, stdout, stderr } = await home.run`envelopes download ${draft}`;
    expect([code, stdout]).toEqual([9, '']);
    expect(stderr.split(why)).toHaveLength(2);
    expect(lines(stderr)).toHaveLength(2);
    expect(stderr).toContain(`esign envelopes download ${draft} --what document`);
    expect(stderr.includes('watch')).toBe(acts.length === 0);
  });

  it('includes what it can look up with --name-template, and reports the rest', async () => {
    const named = await home.run(
      argv`envelopes download - --dir named --name-template {what}/{envelopeId}.pdf --json`,
      { input: `env_missing\n${id}\n` },
    );
    expect(named.code).toBe(10);
    const failed = { envelopeId: 'env_missing', key: null, status: 'failed', error: { code: 'NOT_FOUND' } };
    expect(lines(named.stdout).map(parseJson)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          ...failed,
          what: 'signed',
          error: expect.objectContaining(failed.error) as unknown,
        }),
        expect.objectContaining({ envelopeId: id, what: 'signed', key, status: 'downloaded' }),
      ]),
    );
    expect(await readdir(home.path('named', 'signed'))).toEqual([`${id}.pdf`]);
  });

  it('reports problems with the bucket', async () => {
    await writeFile(home.path('wrong.secret'), 'not the secret\n'.replaceAll(' ', '-'));
    const ready = await home.object`profiles show`;
    expect(ready).toMatchObject({ storage: { bucket: 'esign-sandbox' } });
    onTestFinished(async () => {
      await writeFile(home.path('right.secret'), String(sandbox.ready.secretAccessKey));
      await home.json`profiles edit sandbox --secret-access-key-file right.secret --bucket esign-sandbox`;
    });
    await home.run`profiles edit sandbox --secret-access-key-file wrong.secret`;
    const refused = await home.run`envelopes download ${id} --wait 0s`;
    expect(refused.code).toBe(9);
    expect(refused.stderr).toContain('the signature is wrong');
    await home.run`profiles edit sandbox --bucket elsewhere`;
    expect((await home.run`envelopes download ${id} --wait 0s`).code).toBe(9);
  });
});

describe('documents download', () => {
  const other = new Home();
  let otherKey = '';

  beforeAll(async () => {
    await other.sandbox();
    const envelope = await other.object`envelopes create --template tmpl_intake --signer a@b.c`;
    otherKey = String(envelope.documentStorageKey);
  });
  afterAll(() => other.close());

  it('downloads by key, to a folder or to stdout, from arguments or stdin', async () => {
    const [file, stdout] = [
      await other.run(argv`documents download - --dir out --json`, { input: `${otherKey}\n` }),
      await other.run`documents download ${otherKey} -o -`,
    ];
    expect(parseJson(file.stdout)).toMatchObject({ key: otherKey, what: 'document', status: 'downloaded' });
    expect(stdout.stdout.slice(0, 5)).toBe('%PDF-');
    expect(stdout.code).toBe(0);
  });

  it('refuses a folder as the output file', async () => {
    const refused = await other.run`documents download ${otherKey} -o new/ --json`;
    expect([refused.code, reportedError(refused).code]).toEqual([2, 'USAGE']);
    expect(await readdir(other.folder)).not.toContain('new');
  });

  it('never writes outside its folder, for any key', async () => {
    const before = await readdir(other.folder);
    for (const hostile of ['../../../etc/passwd', 'a/../../x', '/etc/passwd', '..\\x']) {
      const { code, stdout } = await other.run`documents download ${hostile} --dir in --wait 0s --json`;
      expect(code).toBe(9);
      expect(parseJson(stdout)).toMatchObject({
        key: hostile,
        status: 'failed',
        error: { code: 'STORAGE_NOT_FOUND' },
      });
    }
    expect((await readdir(other.folder)).sort()).toEqual([...before, 'in'].sort());
    expect(await readdir(other.path('in'))).toEqual([]);
  });

  it('requires a bucket', async () => {
    const env = { ESIGN_BASE_URL: 'http://127.0.0.1:9/api/v1', ESIGN_API_KEY: 'sk_test_0123456789' };
    const finished = await other.run(argv`documents download a/b.pdf --json`, { env });
    expect(finished.code).toBe(9);
    expect(reportedError(finished)).toMatchObject({ code: 'STORAGE_NOT_CONFIGURED' });
  });
});

describe('an AWS profile', () => {
  const add = (name: string, awsProfile: string, ...more: string[]) => {
    const words = ['profiles', 'add', name, '--base-url', sandbox.baseUrl, '--api-key-file', '-'];
    const storage = ['--bucket', String(sandbox.ready.bucket), '--aws-profile', awsProfile];
    return home.run([...words, ...storage, ...more], { input: sandbox.apiKey });
  };

  beforeAll(async () => {
    const { endpoint, accessKeyId, secretAccessKey } = sandbox.ready;
    await mkdir(home.path('.aws'));
    await writeFile(
      home.path('.aws', 'config'),
      `[profile team]\nregion = us-east-1\nendpoint_url = ${String(endpoint)}\n`,
    );
    const keys = [
      `aws_access_key_id = ${String(accessKeyId)}`,
      `aws_secret_access_key = ${String(secretAccessKey)}`,
    ];
    await writeFile(home.path('.aws', 'credentials'), `[team]\n${keys.join('\n')}\n`);
  });

  it('provides credentials, region, and a custom endpoint', async () => {
    expect((await add('by-aws', 'team')).code).toBe(0);
    const { code, stderr } = await home.run`envelopes download ${id} -p by-aws --dir by-aws`;
    expect([code, stderr]).toEqual([0, '']);
    expect((await readdir(home.path('by-aws'))).filter((name) => name.endsWith('.pdf'))).toHaveLength(2);
  });

  it("is named in the error if it doesn't exist", async () => {
    expect((await add('without-aws', 'gone', '--region', 'us-east-1', '--no-verify')).code).toBe(0);
    const finished = await home.run`documents download ${key} -p without-aws --wait 0s`;
    expect(finished.code).toBe(9);
    expect(finished.stderr).toContain('gone');
  });
});
