import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import { CreateBucketCommand, PutBucketPolicyCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { argv } from '../../support/argv.ts';
import { Home, jsonLines, linesOf, reportedError } from '../../support/cli.ts';
import { needsRgw, RGW_USERS, type Rgw, startRgw } from '../../support/rgw.ts';

const BUCKET = 'contracts';
const { owner, stranger } = RGW_USERS;
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const pdf = (size: number) => Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(size)]);
const ODD = [
  'dossier été/contrat n°1 (v2)+final.pdf',
  "a b/c&d=e;f,g@h!~*'.pdf",
  '日本/契約.pdf',
  '100%/a%2Fb.pdf',
  'deep//double/./x.pdf',
  '../../../escape.pdf',
];

/** Adds a profile for a user of the gateway. */
async function addProfile(
  home: Home,
  name: string,
  rgw: Rgw,
  user: { accessKeyId: string; secretAccessKey: string },
) {
  await writeFile(home.path(`${name}.secret`), user.secretAccessKey);
  const storage = ['--bucket', BUCKET, '--endpoint', rgw.endpoint, '--access-key-id', user.accessKeyId];
  const added = await home.run(
    [
      ...[
        'profiles',
        'add',
        name,
        '--base-url',
        'http://127.0.0.1:9/api/v1',
        '--no-verify',
        '--api-key-file',
        '-',
      ],
      ...[...storage, '--secret-access-key-file', `${name}.secret`],
    ],
    { input: 'sk_test_0123456789\n' },
  );
  expect(added.code, added.stderr).toBe(0);
}

function clientOf(rgw: Rgw, ca?: Buffer): S3Client {
  return new S3Client({
    endpoint: rgw.endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: owner,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    ...(ca === undefined ? {} : { requestHandler: { httpsAgent: new Agent({ ca }) } }),
  });
}

const put = (client: S3Client, key: string, body: Buffer) =>
  client.send(new PutObjectCommand({ Bucket: BUCKET, Key: key, Body: body, ContentType: 'application/pdf' }));

describe('a real Ceph bucket', needsRgw, () => {
  const home = new Home();
  let rgw: Rgw;
  const documents = new Map<string, Buffer>();

  beforeAll(async () => {
    rgw = await startRgw();
    const client = clientOf(rgw);
    await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
    for (const key of ['esign/envelopes/org_1/env_1/signed.pdf', ...ODD]) {
      const body = pdf(50_000);
      documents.set(key, body);
      await put(client, key, body);
    }
    client.destroy();
    await addProfile(home, 'owner', rgw, owner);
    await addProfile(home, 'stranger', rgw, stranger);
  });
  afterAll(async () => {
    await rgw.stop();
    await home.close();
  });

  const download = (keys: string[], ...more: string[]) =>
    home.run(argv`documents download - --wait 0s --json ${more}`, {
      input: `${keys.join('\n')}\n`,
    });

  it('returns any key, however unusual, and stores it inside the folder', async () => {
    const keys = [...documents.keys()];
    const before = await readdir(home.folder);
    const { code, stdout, stderr } = await download(keys, '--dir', 'odd', '--name-template', '{key}');
    expect(code, stderr).toBe(0);
    for (const [index, line] of jsonLines(stdout).entries()) {
      const key = keys[index] ?? '';
      expect(line).toMatchObject({
        key,
        status: 'downloaded',
        sha256: sha256(documents.get(key) ?? Buffer.alloc(0)),
      });
    }
    expect((await home.shell('cd odd && sha256sum -c --strict SHA256SUMS')).code).toBe(0);
    expect((await readdir(home.folder)).filter((name) => !before.includes(name))).toEqual(['odd']);
    const singly = await download(keys, '--dir', 'singly', '--name-template', '{key}', '--debug');
    expect(singly.stderr.match(/← 200/g)).toHaveLength(keys.length);
    expect(singly.code).toBe(0);
    const again = await download(keys, '--dir', 'odd', '--name-template', '{key}', '--debug');
    expect(again.stderr.match(/→ HEAD /g)).toHaveLength(keys.length);
    expect(again.stderr).not.toMatch(/→ GET /);
  });

  it('links to unusual keys', async () => {
    for (const key of ODD.slice(0, 4)) {
      const { stdout } = await home.run`documents link ${key} --expires 1m`;
      const reply = await fetch(stdout.trim());
      expect(sha256(Buffer.from(await reply.arrayBuffer()))).toBe(
        sha256(documents.get(key) ?? Buffer.alloc(0)),
      );
    }
  });

  it('reports an unknown user and a wrong secret', async () => {
    const key = ODD[0] ?? '';
    const refused = await home.run`documents link ${key} -p stranger --json`;
    expect([refused.code, reportedError(refused).code]).toEqual([9, 'STORAGE_DENIED']);
    await addProfile(home, 'wrong', rgw, { ...owner, secretAccessKey: 'not-the-secret' });
    const wrong = await home.run`documents download ${key} -p wrong --wait 0s --dir wrong`;
    expect(wrong.code).toBe(9);
    expect(wrong.stderr).toContain('the signature is wrong');
    expect(await readdir(home.path('wrong'))).toEqual([]);
  });

  it('reports that a 403 can mean a missing object without the right to list', async () => {
    const client = clientOf(rgw);
    const Statement = [
      {
        Effect: 'Allow',
        Principal: { AWS: ['arn:aws:iam:::user/stranger'] },
        Action: ['s3:GetObject'],
        Resource: [`arn:aws:s3:::${BUCKET}/esign/*`],
      },
    ];
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement });
    await client.send(new PutBucketPolicyCommand({ Bucket: BUCKET, Policy }));
    client.destroy();
    const as = (key: string) => home.run`documents download ${key} -p stranger --wait 0s --dir shared`;
    expect((await as('esign/envelopes/org_1/env_1/signed.pdf')).code).toBe(0);
    const gone = await as('esign/envelopes/org_1/env_2/signed.pdf');
    expect(gone.code).toBe(9);
    expect(gone.stderr).toContain('s3:ListBucket');
    const owners = await home.run`documents link esign/none.pdf -p owner --json`;
    expect(reportedError(owners).code).toBe('STORAGE_NOT_FOUND');
  });

  it('resumes a part file, and starts from scratch if its bytes are not those of the object', async () => {
    const client = clientOf(rgw);
    const body = pdf(3_000_000);
    await put(client, 'resume.pdf', body);
    const leave = () => writeFile(home.path('resume.pdf.part'), body.subarray(0, 2_000_000));
    await leave();
    const resumed = await download(['resume.pdf'], '--debug');
    expect(resumed.stderr).toContain('← 206');
    expect(jsonLines(resumed.stdout)).toMatchObject([{ sha256: sha256(body) }]);
    const other = pdf(3_000_000);
    await put(client, 'resume.pdf', other);
    client.destroy();
    await home.shell('rm resume.pdf');
    await leave();
    expect((await download(['resume.pdf'])).code).toBe(0);
    expect(sha256(await readFile(home.path('resume.pdf')))).toBe(sha256(other));
  });
});

describe('a real Ceph bucket with TLS and its own authority', needsRgw, () => {
  const home = new Home();
  let rgw: Rgw;
  const body = pdf(10_000);
  beforeAll(async () => {
    rgw = await startRgw({ tls: true });
    const client = clientOf(rgw, await readFile(rgw.caFile ?? ''));
    await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
    await put(client, 'a.pdf', body);
    client.destroy();
    await addProfile(home, 'owner', rgw, owner);
  });
  afterAll(async () => {
    await rgw.stop();
    await home.close();
  });

  it('is reached with NODE_EXTRA_CA_CERTS, which the error names otherwise', async () => {
    const refused = await home.run`documents download a.pdf --wait 0s`;
    expect(refused.code).toBe(9);
    expect(refused.stderr).toContain('NODE_EXTRA_CA_CERTS');
    const trusted = await home.run(argv`documents download a.pdf --json`, {
      env: { NODE_EXTRA_CA_CERTS: rgw.caFile ?? '' },
    });
    expect(linesOf(trusted.stdout).length).toBe(1);
    expect(jsonLines(trusted.stdout)).toMatchObject([{ status: 'downloaded', sha256: sha256(body) }]);
  });
});
