import { afterEach, describe, expect, it } from 'vitest';
import { probeBucket } from '../../../src/documents/bucket/bucket.ts';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer | undefined;
afterEach(() => server?.close());

/** A bucket that returns this error for every request. */
async function refusing(status: number, code: string) {
  server = await startServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/xml' });
    response.end(`<Error><Code>${code}</Code><Message>because</Message></Error>`);
  });
  return {
    bucket: 'documents',
    endpoint: server.origin,
    accessKeyId: 'AKIA0',
    secretAccessKey: 'canary-secret',
  };
}

describe('probing the bucket', () => {
  it('accepts "not found" from a readable bucket, and requests no object that could exist', async () => {
    expect(await probeBucket(await refusing(404, 'NoSuchKey'))).toBe('yes');
    expect(server?.seen.map(({ method, path }) => [method, path])).toEqual([
      ['GET', expect.stringMatching(/^\/documents\/esign\/doctor\/[0-9a-f-]{36}$/)],
    ]);
  });

  it('doesn\'t guess what "denied" means', async () => {
    expect(await probeBucket(await refusing(403, 'AccessDenied'))).toBe('unknown');
  });

  it('sends one request, and waits no longer than its timeout', async () => {
    server = await startServer(() => undefined);
    const settings = { bucket: 'documents', accessKeyId: 'AKIA0', secretAccessKey: 'canary-secret' };
    const probing = probeBucket({ ...settings, endpoint: server.origin }, { timeoutMs: 300 });
    await expect(probing).rejects.toMatchObject({ code: 'STORAGE_UNREACHABLE' });
    expect(server.seen).toHaveLength(1);
  });

  it.each([
    ['a page for every path', 200],
    ['a page that reports 404', 404],
  ])('refuses a web server that is not S3: %s', async (_, status) => {
    server = await startServer((__, response) => {
      response.writeHead(status, { 'content-type': 'text/html' });
      response.end('<html>Sign in</html>');
    });
    const settings = { bucket: 'documents', accessKeyId: 'AKIA0', secretAccessKey: 'canary-secret' };
    await expect(probeBucket({ ...settings, endpoint: server.origin })).rejects.toMatchObject({
      code: 'STORAGE_UNREACHABLE',
    });
  });

  it.each([
    [404, 'NoSuchBucket', 'STORAGE_NOT_FOUND'],
    [403, 'InvalidAccessKeyId', 'STORAGE_CREDENTIALS'],
    [403, 'SignatureDoesNotMatch', 'STORAGE_CREDENTIALS'],
  ])('fails with %i %s', async (status, name, code) => {
    await expect(probeBucket(await refusing(status, name))).rejects.toMatchObject({ code });
  });
});
