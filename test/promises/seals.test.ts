import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { Home, jsonLines } from '../support/cli.ts';
import {
  flipped,
  makeSealer,
  plainPdf,
  revision,
  type Sealer,
  sealed,
  timestamped,
} from '../support/sealing.ts';
import { json, startServer, type TestServer } from '../support/server.ts';
import { AWS, startBucket, type TestBucket } from '../support/test-bucket.ts';

const home = new Home(AWS);
let bucket: TestBucket;
let api: TestServer;
let root: Sealer;
let service: Sealer;
let stranger: Sealer;
let authority: Sealer;
let turn = 0;

beforeAll(async () => {
  root = await makeSealer({ name: 'Root', authority: true });
  service = await makeSealer({ name: 'Service', issuer: root.issued });
  stranger = await makeSealer({ name: 'Stranger' });
  authority = await makeSealer({ name: 'Timestamps' });
  bucket = await startBucket();
  api = await startServer((request, response) => {
    const id = request.path.split('/').at(-1) ?? '';
    const key = (what: string) => `${id}/${what}.pdf`;
    const data = {
      id,
      status: 'COMPLETED',
      documentStorageKey: key('document'),
      signedDocumentStorageKey: key('signed'),
      certificateStorageKey: key('certificate'),
    };
    json(response, 200, { success: true, data });
  });
  await writeFile(home.path('api.key'), 'sk_0123456789\n');
  await writeFile(home.path('root.pem'), root.issued.pem);
  await writeFile(home.path('stranger.pem'), stranger.issued.pem);
});
/** A separate profile for each test, as pins belong to a profile. */
beforeEach(async () => {
  const words = ['--base-url', api.origin, '--api-key-file', 'api.key', '--no-verify', '--bucket', 'b'];
  await home.run`profiles add p${++turn} ${words} --endpoint ${bucket.origin}`;
});

const DOCUMENTS = ['signed', 'certificate', 'document'] as const;

/** Stores the documents of an envelope: by default all as the service makes them. */
function envelope(id: string, changed: Partial<Record<(typeof DOCUMENTS)[number], Buffer>> = {}): string {
  const usual = {
    signed: sealed(service, plainPdf(`Signed ${id}`)),
    certificate: sealed(service, plainPdf(`Certificate ${id}`)),
    document: plainPdf(id),
  };
  for (const what of DOCUMENTS) bucket.put(`${id}/${what}.pdf`, changed[what] ?? usual[what]);
  return id;
}

interface Judged {
  code: number | null;
  files: Record<string, unknown>[];
  stderr: string;
}

async function esign(words: string): Promise<Judged> {
  const { code, stdout, stderr } = await home.run([...words.split(' '), '-p', `p${turn}`, '--json']);
  return { code, stderr, files: jsonLines(stdout).filter(isRecord) };
}

const download = (ids: string, more = '') => esign(`envelopes download ${ids} --dir d${turn} ${more}`.trim());
const trustIn = ({ files }: Judged) => files.map(({ seal }) => isRecord(seal) && seal.trust);
/** Stores a file and verifies it. */
async function verify(pdf: Buffer, more = ''): Promise<Judged> {
  await writeFile(home.path(`v${turn}.pdf`), pdf);
  return esign(`documents verify v${turn}.pdf ${more}`.trim());
}
const codeOf = ({ files: [file] }: Judged) => {
  const problem = file?.error ?? file?.problem;
  return isRecord(problem) ? problem.code : null;
};

describe('the pin of a profile', () => {
  it('comes from the signed document and the certificate of one completed envelope, and from nothing else', async () => {
    envelope('env_1');
    envelope('env_2', { certificate: sealed(stranger) });
    for (const words of [
      'envelopes download env_1 --what document',
      'envelopes download env_1 --what signed',
      'envelopes download env_1 --what certificate,document',
      'envelopes download env_2',
      'documents download env_1/signed.pdf env_1/certificate.pdf',
    ])
      expect((await esign(`${words} --dir alone --force`)).code, words).toBe(0);
    expect(trustIn(await verify(sealed(service)))).toEqual(['unknown']);
    const pinned = await download('env_1');
    expect([pinned.code, trustIn(pinned)]).toEqual([0, ['pinned', 'pinned']]);
    expect(trustIn(await verify(sealed(service)))).toEqual(['pinned']);
    expect(await home.object`profiles show -p p${turn}`).toMatchObject({
      pin: { value: service.fingerprint },
    });
    await home.run`profiles edit p${turn} --pin ${stranger.fingerprint}`;
    expect(trustIn(await verify(sealed(service)))).toEqual(['other']);
    await home.run`profiles edit p${turn} --no-pin`;
    expect(trustIn(await verify(sealed(service)))).toEqual(['unknown']);
  });

  it('makes other seals and missing ones fail, in downloads and in verify; the files are kept', async () => {
    await download(envelope('env_1'));
    envelope('env_2', { signed: sealed(stranger), certificate: plainPdf() });
    const other = await download('env_2');
    expect([other.code, other.files.map(({ problem }) => isRecord(problem) && problem.code)]).toEqual([
      9,
      ['SEAL_OTHER', 'SEAL_MISSING'],
    ]);
    expect(jsonLines(other.stderr)).toMatchObject([{ error: { code: 'STORAGE_CORRUPT', exitCode: 9 } }]);
    expect(await readdir(home.path(`d${turn}`))).toHaveLength(5);
    const checked = await esign(`documents verify d${turn}`);
    expect([checked.code, checked.files.filter(({ error }) => error !== null).length]).toEqual([9, 2]);
  });

  it('is not compared with the unsigned original, whose seal is not judged at all', async () => {
    await download(envelope('env_1'));
    const document = flipped(sealed(stranger), 40);
    const original = await download(envelope('env_2', { document }), '--what document');
    expect([original.code, original.files.map(({ problem }) => problem)]).toEqual([0, [null]]);
    expect((await esign(`documents verify d${turn} --require-seal`)).code).toBe(0);
  });

  it('is never set by documents that were tampered with', async () => {
    for (const change of [
      (pdf: Buffer) => flipped(pdf, 40),
      (pdf: Buffer) => Buffer.concat([pdf, Buffer.from('\n')]),
    ]) {
      const [signed, certificate] = ['a', 'b'].map((words) => change(sealed(stranger, plainPdf(words))));
      if (signed && certificate) envelope('env_3', { signed, certificate });
      expect((await download('env_3', '--force')).code).toBe(9);
    }
    expect(trustIn(await download(envelope('env_1')))).toEqual(['pinned', 'pinned']);
  });
});

describe('documents verify', () => {
  it('compares files with their list, and names what is changed, missing, or not listed', async () => {
    await download(`${envelope('env_1')} ${envelope('env_2')}`);
    const dir = `d${turn}`;
    expect(await esign(`documents verify ${dir}`)).toMatchObject({
      code: 0,
      files: Array(4).fill({ list: 'ok' }),
    });
    await writeFile(home.path(dir, 'env_1.signed.pdf'), sealed(service));
    await writeFile(home.path(dir, 'new.pdf'), sealed(service));
    await writeFile(home.path(dir, 'env_2.signed.pdf'), '');
    const { code, files, stderr } = await esign(`documents verify ${dir}`);
    expect([code, jsonLines(stderr).at(-1)]).toMatchObject([9, { error: { code: 'STORAGE_CORRUPT' } }]);
    expect(Object.fromEntries(files.map(({ path, list }) => [path, list]))).toEqual({
      [`${dir}/env_1.signed.pdf`]: 'changed',
      [`${dir}/env_1.certificate.pdf`]: 'ok',
      [`${dir}/env_2.signed.pdf`]: 'changed',
      [`${dir}/env_2.certificate.pdf`]: 'ok',
      [`${dir}/new.pdf`]: 'unlisted',
    });
    const repaired = await download('env_1 env_2', '--force');
    expect([repaired.code, (await esign(`documents verify ${dir}`)).code]).toEqual([0, 0]);
  });

  it('suggests --force for a file that was downloaded and changed, but not for a forged one', async () => {
    await download(envelope('env_1'));
    await writeFile(home.path(`d${turn}`, 'env_1.signed.pdf'), sealed(service));
    const changed = await home.run(['documents', 'verify', `d${turn}`]);
    expect([changed.code, changed.stderr]).toEqual([9, expect.stringContaining('--force')]);
    for (const forged of [flipped(sealed(stranger), 40), Buffer.from('%PDF-1.7\n/ByteRange [0 1 2 3]')]) {
      await writeFile(home.path('forged.pdf'), forged);
      const { code, stderr } = await home.run`documents verify forged.pdf --require-seal`;
      expect([code, stderr]).toEqual([9, expect.stringContaining("Don't rely on these files.")]);
      expect(stderr).not.toMatch(/--force|again/);
    }
  });

  it('accepts a file without a seal unless one is required', async () => {
    expect(await verify(plainPdf())).toMatchObject({ code: 0, files: [{ seal: { state: 'unsigned' } }] });
    const required = await verify(plainPdf(), '--require-seal');
    expect([required.code, codeOf(required)]).toEqual([9, 'SEAL_MISSING']);
    expect((await verify(sealed(service), '--require-seal')).code).toBe(0);
  });

  it('accepts only the required signer or authority', async () => {
    const pdf = sealed(service);
    expect(trustIn(await verify(pdf, '--trust root.pem'))).toEqual(['trusted']);
    expect(codeOf(await verify(pdf, '--trust stranger.pem'))).toBe('SEAL_UNTRUSTED');
    expect(trustIn(await verify(pdf, `--sealed-by ${service.fingerprint}`))).toEqual(['pinned']);
    expect(await verify(pdf, `--sealed-by ${stranger.fingerprint}`)).toMatchObject({
      code: 9,
      files: [{ error: { code: 'SEAL_UNTRUSTED' } }],
    });
    expect((await verify(pdf, '--sealed-by abc')).code).toBe(2);
  });

  it.each<[string, string, (pdf: Buffer) => Buffer]>([
    ['was changed', 'SEAL_CHANGED', (pdf) => flipped(pdf, 40)],
    ['got bytes after its seal', 'SEAL_EXTENDED', (pdf) => Buffer.concat([pdf, Buffer.from('\n% more\n')])],
    ['got a page after its seal', 'SEAL_EXTENDED', (pdf) => revision(pdf, { 4: '<< >>' })],
    ['was cut', 'SEAL_UNREADABLE', (pdf) => pdf.subarray(0, -30)],
    ['has bytes before it', 'SEAL_UNREADABLE', (pdf) => Buffer.concat([Buffer.from('\n'), pdf])],
  ])('fails a file that %s', async (_, expected, change) => {
    const judged = await verify(change(sealed(service)));
    expect([judged.code, codeOf(judged)]).toEqual([9, expected]);
  });

  it('exits with 2 for an empty folder or a missing file', async () => {
    await mkdir(home.path('empty'), { recursive: true });
    for (const place of ['empty', 'missing.pdf'])
      expect((await esign(`documents verify ${place}`)).code).toBe(2);
  });
});

describe('a file to which the service added data after sealing', () => {
  const LIMIT: unknown = expect.stringMatching(/^Only the first \d+ bytes are sealed\. Added later/);
  const stamped = (words: string) => timestamped(authority, sealed(service, plainPdf(words)));
  const extended = (id: string) => envelope(id, { signed: stamped('a'), certificate: stamped('b') });
  const sealsIn = ({ files }: Judged) =>
    files.map(({ seal }) => isRecord(seal) && [seal.coverage, seal.trust, seal.sealedBytes]);

  it('fails unless its sealed part is written, a file that is whole', async () => {
    const part = sealed(service, plainPdf('a'));
    const failed = await verify(stamped('a'));
    expect([failed.code, codeOf(failed)]).toEqual([9, 'SEAL_EXTENDED']);
    const judged = await verify(stamped('a'), '--sealed-part parts');
    expect([judged.code, codeOf(judged), sealsIn(judged)]).toEqual([
      0,
      null,
      [['extended', 'unknown', part.length]],
    ]);
    expect(judged.files).toMatchObject([{ seal: { reason: LIMIT } }]);
    expect((await verify(stamped('a'), '--sealed-part parts --trust stranger.pem')).code).toBe(9);
    await writeFile(home.path('parts', `v${turn}.sealed.pdf`), 'mine');
    const unsaved = await verify(stamped('a'), '--sealed-part parts');
    expect([unsaved.code, codeOf(unsaved)]).toEqual([9, 'SEAL_EXTENDED']);
    await rm(home.path('parts', `v${turn}.sealed.pdf`));
    await verify(stamped('a'), '--sealed-part parts');
    const written = await readFile(home.path('parts', `v${turn}.sealed.pdf`));
    expect([written.length, (await verify(written)).code]).toEqual([part.length, 0]);
    expect((await download(extended('env_1'))).code).toBe(9);
  });

  it('is accepted with its sealed part next to it if the profile expects that and the seal is pinned', async () => {
    await home.run`profiles edit p${turn} --sealed-part`;
    const first = await download(extended('env_1'));
    expect([first.code, sealsIn(first).map((seal) => (seal || []).slice(0, 2))]).toEqual([
      0,
      [
        ['extended', 'pinned'],
        ['extended', 'pinned'],
      ],
    ]);
    expect((await readdir(home.path(`d${turn}`))).sort()).toEqual([
      'SHA256SUMS',
      'env_1.certificate.pdf',
      'env_1.certificate.sealed.pdf',
      'env_1.signed.pdf',
      'env_1.signed.sealed.pdf',
    ]);
    expect(first.files.map(({ seal }) => isRecord(seal) && seal.reason)).toEqual([LIMIT, LIMIT]);
    const { stderr } = await home.run`envelopes download env_1 --dir d${turn} -p p${turn}`;
    expect(stderr.match(/Only the first \d+ bytes are sealed/g)).toHaveLength(2);
    expect((await esign(`documents verify d${turn} --require-seal`)).code).toBe(9);
    const checked = await esign(`documents verify d${turn} --require-seal --sealed-part d${turn}`);
    expect([checked.code, checked.files.length]).toEqual([0, 4]);
    envelope('env_2', { signed: timestamped(authority, sealed(stranger)) });
    expect((await download('env_2')).code).toBe(9);
  });

  it('is replaced with its sealed part by --force; if that fails, the file is still reported', async () => {
    await home.run`profiles edit p${turn} --sealed-part`;
    await download(extended('env_1'));
    const part = sealed(service, plainPdf('new'));
    const signed = timestamped(authority, part);
    envelope('env_1', { signed, certificate: stamped('b') });
    expect((await download('env_1', '--force')).code).toBe(0);
    const path = home.path(`d${turn}`, 'env_1.signed.sealed.pdf');
    expect(part.equals(await readFile(path))).toBe(true);
    await writeFile(path, 'mine');
    const { code, files } = await download('env_1');
    expect([code, files[0]]).toMatchObject([
      10,
      {
        status: 'failed',
        path: `d${turn}/env_1.signed.pdf`,
        bytes: signed.length,
        proof: 'etag',
        error: { code: 'STORAGE_LOCAL' },
        seal: { coverage: 'extended', trust: 'pinned' },
      },
    ]);
  });

  it('is in the evidence, next to its sealed part', async () => {
    const { code, stderr } =
      await home.run`envelopes evidence ${extended('env_1')} --dir e${turn} -p p${turn}`;
    expect([code, stderr]).toEqual([9, expect.stringContaining('not covered')]);
    const part = await readFile(home.path(`e${turn}`, 'env_1.signed.sealed.pdf'));
    expect((await verify(part)).files).toMatchObject([{ seal: { coverage: 'whole' } }]);
    const page = await readFile(home.path(`e${turn}`, 'evidence.html'), 'utf8');
    expect(page).toContain('env_1.signed.sealed.pdf');
    expect(page).toMatch(/Don(&#39;|')t rely on/);
  });

  it('is never called unchanged in the evidence, also if the profile expects it', async () => {
    await home.run`profiles edit p${turn} --sealed-part`;
    await download(extended('env_1'));
    // What was added need not be a timestamp: anyone who can write to the bucket can append a page.
    const amended = (words: string) => revision(sealed(service, plainPdf(words)), { 4: '<< >>' });
    envelope('env_2', { signed: amended('a') });
    envelope('env_3', { certificate: amended('b') });
    for (const [id, what] of [
      ['env_1', 'Signed document'],
      ['env_2', 'Signed document'],
      ['env_3', 'Certificate of completion'],
    ] as const) {
      const { code, stderr } = await home.run`envelopes evidence ${id} --dir e${turn}${id} -p p${turn}`;
      expect([code, stderr]).toEqual([0, expect.stringMatching(/Only the first \d+ bytes are sealed/)]);
      const page = await readFile(home.path(`e${turn}${id}`, 'evidence.html'), 'utf8');
      const verdict = /<div class="verdict open">.*?<\/div>/s.exec(page)?.[0] ?? '';
      expect(verdict).toContain(`${what}: only the first`);
      expect(verdict).toMatch(/\.sealed\.pdf\)\. Added later and not covered: /);
      expect(page).not.toMatch(/Nothing was (changed|added)|verdict good/);
    }
    envelope('env_4');
    expect((await home.run`envelopes evidence env_4 --dir e4 -p p${turn}`).code).toBe(0);
    expect(await readFile(home.path('e4', 'evidence.html'), 'utf8')).toContain(
      'Nothing was changed or added',
    );
  });
});
