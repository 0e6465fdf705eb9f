import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openBucket, probeBucket } from '../../../src/documents/bucket/bucket.ts';
import { StorageError } from '../../../src/kernel/errors.ts';
import { startServer, type TestServer } from '../../support/server.ts';

const KEY = 'esign/envelopes/org_1/env_1/signed.pdf';
const SETTINGS = { bucket: 'documents', accessKeyId: 'AKID', secretAccessKey: 'canary-secret' };
const REGION = '<Region>eu-west-3</Region>';
let server: TestServer | undefined;

/** The settings of a bucket that returns these errors one after the other, and then the last one. */
async function refusing(...errors: [status: number, code: string, more?: string][]) {
  let turn = 0;
  server = await startServer((_, response) => {
    const [status, code, more = ''] = errors[Math.min(turn++, errors.length - 1)] ?? [500, ''];
    if (status === 200)
      return void response.writeHead(200, { etag: '"x"', 'content-length': 5 }).end('%PDF-');
    response.writeHead(status, { 'content-type': 'application/xml' });
    response.end(`<Error><Code>${code}</Code><Message>because</Message>${more}</Error>`);
  });
  return { ...SETTINGS, endpoint: server.origin };
}

describe("the bucket's errors", () => {
  it.each<[number, string, string, string]>([
    [404, 'NoSuchKey', 'STORAGE_NOT_FOUND', 'the object does not exist'],
    [404, 'NoSuchBucket', 'STORAGE_NOT_FOUND', 'the bucket does not exist'],
    [403, 'AccessDenied', 'STORAGE_DENIED', 'access denied'],
    [403, 'InvalidAccessKeyId', 'STORAGE_CREDENTIALS', 'access key ID'],
    [403, 'SignatureDoesNotMatch', 'STORAGE_CREDENTIALS', 'the signature is wrong'],
    [301, 'PermanentRedirect', 'STORAGE_UNREACHABLE', 'different region'],
    [400, 'AuthorizationHeaderMalformed', 'STORAGE_UNREACHABLE', 'eu-west-3'],
    [302, 'Found', 'STORAGE_UNREACHABLE', '302'],
    [301, 'MovedPermanently', 'STORAGE_UNREACHABLE', 'redirected (301)'],
    [403, 'SomethingNew', 'STORAGE_DENIED', 'access denied'],
  ])('turns %i %s into %s', async (status, name, code, words) => {
    const more = name === 'AuthorizationHeaderMalformed' ? REGION : '';
    const bucket = await openBucket(await refusing([status, name, more]));
    const message = expect.stringContaining(words) as unknown;
    await expect(bucket.open(KEY)).rejects.toMatchObject({ code, message });
    bucket.close();
  });

  it('have the code and message of the bucket', async () => {
    const bucket = await openBucket(await refusing([403, 'AccessDenied']));
    await expect(bucket.open(KEY)).rejects.toThrow('access denied (AccessDenied: because)');
    bucket.close();
  });

  it.each([
    ['InvalidRequest', 'The object was stored using a form of Server Side Encryption.', 'SSE-C'],
    ['KMS.DisabledException', 'arn:aws:kms:x is disabled.', 'kms:Decrypt'],
    ['KMS.KMSInvalidStateException', 'arn:aws:kms:x is pending deletion.', 'kms:Decrypt'],
    ['InvalidArgument', 'Requests specifying SSE-C must provide a key.', 'SSE-C'],
    ['InvalidArgument', 'x-amz-meta is too long.', 'esign profiles show'],
  ])('have a fix for their reason: %s, %s', async (code, message, hint) => {
    server = await startServer((_, response) => {
      response.writeHead(400, { 'content-type': 'application/xml' });
      response.end(`<Error><Code>${code}</Code><Message>${message}</Message></Error>`);
    });
    const bucket = await openBucket({ ...SETTINGS, endpoint: server.origin });
    const error: unknown = await bucket.open(KEY).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: expect.stringContaining(message.slice(0, -1)) as unknown });
    expect(error).not.toMatchObject({ hint: expect.stringContaining('path style') as unknown });
    expect(error).toSatisfy(
      (one) => one instanceof StorageError && `${one.message} ${one.hint}`.includes(hint),
    );
    bucket.close();
  });

  it("blame a proxy, not the key, for a page that isn't from S3", async () => {
    server = await startServer((_, response) => {
      response.writeHead(403, { 'content-type': 'text/html' }).end('<html>Blocked</html>');
    });
    const bucket = await openBucket({ ...SETTINGS, endpoint: server.origin });
    const message = expect.stringContaining('a proxy or gateway refused the request (403)') as unknown;
    await expect(bucket.open(KEY)).rejects.toMatchObject({ code: 'STORAGE_UNREACHABLE', message });
    bucket.close();
  });

  it("offer an envelope's documents if the key is an envelope's ID", async () => {
    const bucket = await openBucket(await refusing([404, 'NoSuchKey']));
    const hint = expect.stringContaining('envelopes download env_1') as unknown;
    await expect(bucket.open('env_1', {})).rejects.toMatchObject({ hint });
    bucket.close();
  });

  it('are retried if they are temporary', async () => {
    const bucket = await openBucket(await refusing([503, 'SlowDown'], [200, '']));
    const opened = await bucket.open(KEY);
    expect(opened?.from).toBe(0);
    opened?.cancel();
    bucket.close();
  });

  it('name the unreachable endpoint, and that no bucket is configured', async () => {
    const bucket = await openBucket({ ...SETTINGS, endpoint: 'http://127.0.0.1:1' });
    const message = expect.stringContaining('http://127.0.0.1:1') as unknown;
    await expect(bucket.open(KEY)).rejects.toMatchObject({ code: 'STORAGE_UNREACHABLE', message });
    bucket.close();
    await expect(openBucket({})).rejects.toMatchObject({ code: 'STORAGE_NOT_CONFIGURED' });
  });

  it.each([
    ['endless', (response: ServerResponse) => flood(response)],
    ['stalled', (response: ServerResponse) => void response.writeHead(403).write('<Error>')],
  ])('end the request if their text is %s', async (_, answer) => {
    const [endless, sockets] = [createServer((_, response) => answer(response)), new Set<Socket>()];
    endless.on('connection', (socket) => sockets.add(socket)).listen(0, '127.0.0.1');
    await once(endless, 'listening');
    const endpoint = `http://127.0.0.1:${addressOf(endless.address())}`;
    const bucket = await openBucket({ ...SETTINGS, endpoint }, { timeoutMs: 1_000 });
    await expect(bucket.open(KEY)).rejects.toMatchObject({ code: 'STORAGE_DENIED' });
    bucket.close();
    let sent = 0;
    for (const socket of sockets) sent += socket.bytesWritten;
    for (const socket of sockets) socket.destroy();
    endless.close();
    // The system's buffers accept this much and no more.
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });
});

const addressOf = (address: string | AddressInfo | null) =>
  address !== null && typeof address === 'object' ? address.port : '';

/** Returns a 403 with a body that never ends. */
function flood(response: ServerResponse): void {
  response.writeHead(403);
  const more = () => {
    while (!response.destroyed && response.write('x'.repeat(65_536)));
  };
  response.on('drain', more);
  more();
}

describe('probing the bucket', () => {
  it('accepts "not found" from a readable bucket, and requests no object that could exist', async () => {
    expect(await probeBucket(await refusing([404, 'NoSuchKey']))).toBe('yes');
    expect(server?.seen.map(({ method, path }) => [method, path])).toEqual([
      ['GET', expect.stringMatching(/^\/documents\/esign\/doctor\/[0-9a-f-]{36}$/)],
    ]);
    expect(await probeBucket(await refusing([403, 'AccessDenied']))).toBe('unknown');
  });

  it('sends one request, and waits no longer than its timeout', async () => {
    server = await startServer(() => undefined);
    const probing = probeBucket({ ...SETTINGS, endpoint: server.origin }, { timeoutMs: 300 });
    await expect(probing).rejects.toMatchObject({ code: 'STORAGE_UNREACHABLE' });
    expect(server.seen).toHaveLength(1);
  });

  it.each([200, 404])('refuses a web server that is not S3 (a page with %i)', async (status) => {
    server = await startServer((_, response) => {
      response.writeHead(status, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
    });
    const probing = probeBucket({ ...SETTINGS, endpoint: server.origin });
    await expect(probing).rejects.toMatchObject({ code: 'STORAGE_UNREACHABLE' });
  });
});
