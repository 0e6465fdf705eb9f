import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openBucket } from '../../../src/documents/bucket/bucket.ts';
import { startProxy, type TestProxy } from '../../support/proxy.ts';
import { startServer, type TestServer } from '../../support/server.ts';

const NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];
const before = Object.fromEntries(NAMES.map((name) => [name, process.env[name]]));

let server: TestServer;
let proxy: TestProxy;

beforeEach(async () => {
  for (const name of NAMES) delete process.env[name];
  server = await startServer((_, response) => {
    response.writeHead(200, { 'content-length': '1', etag: '"0cc175b9c0f1b6a831c399e269772661"' }).end('a');
  });
  proxy = await startProxy({ to: new URL(server.origin).host });
});
afterEach(async () => {
  for (const name of NAMES) {
    const value = before[name];
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

async function read(endpoint: string, key: string): Promise<string> {
  const bucket = await openBucket({ bucket: 'b', endpoint, accessKeyId: 'A', secretAccessKey: 's' });
  try {
    let text = '';
    for (let times = 0; times < 2; times++) {
      const opened = await bucket.open(key);
      if (opened === undefined) throw new Error('The object has changed.');
      for await (const chunk of opened.body) text += Buffer.from(chunk).toString();
    }
    return text;
  } finally {
    bucket.close();
  }
}

describe('a proxy', () => {
  it('gets plain requests with their full, unnormalized URL and its own password', async () => {
    process.env.HTTP_PROXY = `http://me:p%40ss@${proxy.address}`;
    expect(await read('http://bucket.example', 'a/./b c.pdf')).toBe('aa');
    expect(proxy.asked.map((line) => line.replace(/\?.*/, ''))).toEqual(
      Array(2).fill('GET http://bucket.example/b/a/./b%20c.pdf'),
    );
    expect(proxy.users).toEqual(Array(2).fill('me:p@ss'));
    expect(server.seen.map((one) => one.headers['proxy-authorization'])).toEqual([undefined, undefined]);
  });
});
