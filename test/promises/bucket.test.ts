import { writeFile } from 'node:fs/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../support/cli.ts';
import { AWS, startBucket, type TestBucket } from '../support/test-bucket.ts';

const pdf = Buffer.from('%PDF-1.7\nof a contract');
const home = new Home();
let bucket: TestBucket;

beforeAll(async () => {
  bucket = await startBucket();
});
afterEach(() => {
  bucket.seen.length = 0;
});

const download = (words: string, env: Record<string, string>) =>
  home.run(['documents', 'download', ...words.split(' '), '--wait', '0s'], {
    env: { ...bucket.env, ...env },
  });

describe('a bucket without a profile', () => {
  it('is read from the environment, with its region, and with the spaces and tabs of its keys', async () => {
    bucket.put(' a\tb .pdf', pdf);
    const env = { ...bucket.env, ESIGN_BUCKET_REGION: 'eu-test-7' };
    expect((await home.run(['documents', 'download', ' a\tb .pdf', '--dir', 'odd'], { env })).code).toBe(0);
    expect(bucket.seen[0]?.path).toBe('/b/%20a%09b%20.pdf');
    expect(bucket.seen[0]?.query.get('X-Amz-Credential')).toContain('/eu-test-7/s3/');
  });

  it.each([
    ['AWS_ACCESS_KEY_ID', 'AKID\n'],
    ['AWS_SECRET_ACCESS_KEY', ' secret'],
    ['AWS_SESSION_TOKEN', 'token\r'],
    ['AWS_ACCESS_KEY_ID', '"AKID"'],
    ['AWS_PROFILE', 'team\n'],
  ])('is reported with a fix if %s is %j', async (name, value) => {
    const { code, stderr } = await download('a.pdf', { [name]: value });
    expect([code, stderr]).toEqual([9, expect.stringContaining(`${name} contains`)]);
    expect(bucket.seen).toEqual([]);
  });

  it('is read although a secret store added line breaks to its settings', async () => {
    bucket.put('a.pdf', pdf);
    const { ESIGN_BUCKET: name = '', ESIGN_BUCKET_ENDPOINT: endpoint = '' } = bucket.env;
    const { code, stderr } = await download('a.pdf --dir breaks', {
      ESIGN_BUCKET: `${name}\n`,
      ESIGN_BUCKET_ENDPOINT: `${endpoint}\n`,
      ESIGN_BUCKET_REGION: 'eu-test-7\n',
    });
    expect([code, stderr]).toEqual([0, '']);
  });

  it.each([
    ['exit 3', 'credential_process failed with exit code 3 for the AWS profile own.'],
    [
      'echo "run foo login" >&2; exit 1',
      'credential_process failed (run foo login) for the AWS profile own.',
    ],
    ['echo no JSON', 'credential_process returned invalid JSON'],
    [
      String.raw`echo {\"Version\":1,\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"B\",\"Expiration\":\"2020-01-01T00:00:00Z\"}`,
      'credential_process returned expired credentials',
    ],
  ])('names a credential_process that gives no credentials: %s', async (script, why) => {
    await writeFile(home.path('script.sh'), script);
    const line = `credential_process = sh ${home.path('script.sh')} secret-in-the-command`;
    await writeFile(home.path('aws.config'), `[profile own]\nregion = us-east-1\n${line}\n`);
    const { AWS_ACCESS_KEY_ID: _, AWS_SECRET_ACCESS_KEY: __, ...rest } = bucket.env;
    const env = {
      ...rest,
      AWS_PROFILE: 'own',
      AWS_CONFIG_FILE: home.path('aws.config'),
      AWS_EC2_METADATA_DISABLED: 'true',
    };
    const { code, stderr } = await home.run(['documents', 'download', 'a.pdf', '--wait', '0s'], { env });
    expect(stderr).not.toContain('secret-in-the-command');
    expect([code, stderr]).toEqual([9, expect.stringContaining(why)]);
  });

  it('is reported with a fix if it is not set', async () => {
    const { code, stderr } = await download('a.pdf', { ESIGN_BUCKET: '' });
    expect([code, stderr]).toEqual([9, expect.stringContaining('ESIGN_BUCKET')]);
  });

  it.each(['documents download a b --wait 0s --json', 'documents download a --wait 0s', 'documents link a'])(
    'keeps a password in the endpoint secret (%s)',
    async (words) => {
      const secret = 'hunter2hunter2';
      const { ESIGN_BUCKET_ENDPOINT: _, ...rest } = bucket.env;
      const env = { ...rest, ...AWS, AWS_ENDPOINT_URL_S3: `http://user:${secret}@127.0.0.1:9` };
      const { code, stdout, stderr } = await home.run(words.split(' '), { env });
      expect(code).toBeGreaterThan(0);
      expect(`${stdout}${stderr}`).not.toContain(secret);
      expect(`${stdout}${stderr}`).toContain('redacted');
    },
  );
});
