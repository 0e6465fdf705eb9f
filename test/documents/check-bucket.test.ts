import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { checkBucket } from '../../src/documents/check-bucket.ts';
import { type SeenRequest, startServer, type TestServer } from '../support/server.ts';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const xml = (code: string) => `<?xml version="1.0"?><Error><Code>${code}</Code><Message></Message></Error>`;

async function check(answer: (request: SeenRequest, response: ServerResponse) => void, key?: string) {
  server = await startServer(answer);
  const settings = { bucket: 'b', endpoint: server.origin, accessKeyId: 'A', secretAccessKey: 's' };
  return checkBucket(settings, { key });
}
const refuse = (status: number, code: string) => (_: SeenRequest, response: ServerResponse) =>
  void response.writeHead(status, { 'content-type': 'application/xml' }).end(xml(code));

describe('a look at the bucket', () => {
  it('finds all well where a missing object is said to be missing', async () => {
    const findings = await check(refuse(404, 'NoSuchKey'));
    expect(findings.map((finding) => finding.ok)).toEqual([true, true, true]);
    expect(server?.seen[0]?.path).toMatch(/^\/b\/esign\/doctor\//);
  });

  it.each([
    [404, 'NoSuchBucket', 'bucket', 'no such bucket'],
    [403, 'SignatureDoesNotMatch', 'access', 'the signature is wrong'],
    [403, 'AccessDenied', 'permission to read', 'without s3:ListBucket'],
    [400, 'AuthorizationHeaderMalformed', 'access', 'another region'],
    [503, 'SlowDown', 'access', 'go slower'],
  ])('says of %i %s what it means and what to do', async (status, code, what, words) => {
    const bad = (await check(refuse(status, code))).filter((finding) => !finding.ok);
    expect(bad).toMatchObject([{ what, why: expect.stringContaining(words) as unknown }]);
    expect(bad[0]?.fix).toBeTruthy();
  });

  it('proves reading with a key that exists, whatever it may list', async () => {
    const findings = await check((request, response) => {
      if (request.method === 'HEAD') response.writeHead(200, { 'content-length': '3', etag: '"x"' }).end();
      else response.writeHead(403).end();
    }, 'org/env/document.pdf');
    expect(findings.every((finding) => finding.ok)).toBe(true);
  });

  it('is one finding where there is nothing to look at', async () => {
    expect(await checkBucket({})).toMatchObject([{ ok: false, what: 'bucket' }]);
    const gone = await checkBucket({
      bucket: 'b',
      endpoint: 'http://127.0.0.1:1',
      accessKeyId: 'A',
      secretAccessKey: 's',
    });
    expect(gone.at(-1)).toMatchObject({ ok: false, why: expect.stringContaining('ECONNREFUSED') as unknown });
  });
});
