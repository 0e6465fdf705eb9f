import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
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
afterAll(async () => {
  await bucket.close();
  await home.close();
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

  it('is reported with a fix if its credentials have a line break', async () => {
    const { code, stderr } = await download('a.pdf', { AWS_ACCESS_KEY_ID: 'AKID\n' });
    expect([code, stderr]).toEqual([9, expect.stringContaining('AWS_ACCESS_KEY_ID contains')]);
    expect(bucket.seen).toEqual([]);
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
