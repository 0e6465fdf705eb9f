import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openBucket } from '../../../src/documents/bucket/bucket.ts';
import { bypasses, proxyOf } from '../../../src/kernel/proxy.ts';
import { startServer, type TestServer } from '../../support/server.ts';

const NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];
const before = Object.fromEntries(NAMES.map((name) => [name, process.env[name]]));

let server: TestServer;
let proxy: Server;
let seen: string[];
let address: string;

beforeEach(async () => {
  for (const name of NAMES) delete process.env[name];
  seen = [];
  server = await startServer((_, response) => {
    response.writeHead(200, { 'content-length': '1', etag: '"0cc175b9c0f1b6a831c399e269772661"' }).end('a');
  });
  proxy = createServer((incoming, response) => {
    seen.push(`${incoming.method} ${incoming.url} ${incoming.headers['proxy-authorization'] ?? '-'}`);
    const { 'proxy-authorization': _, ...headers } = incoming.headers;
    const onward = request(incoming.url ?? '', { method: incoming.method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    incoming.pipe(onward);
  });
  proxy.on('connect', (incoming, socket) => {
    seen.push(`CONNECT ${incoming.url}`);
    const [host = '', port] = (incoming.url ?? '').split(':');
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const bound = proxy.address();
  address = `127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}`;
});
afterEach(async () => {
  for (const name of NAMES) {
    const value = before[name];
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  proxy.closeAllConnections();
  proxy.close();
  await server.close();
});

async function read(endpoint: string, key: string): Promise<string> {
  const bucket = await openBucket({ bucket: 'b', endpoint, accessKeyId: 'A', secretAccessKey: 's' });
  try {
    let text = '';
    for (let times = 0; times < 2; times++) {
      const opened = await bucket.open(key);
      if (opened.kind !== 'object') throw new Error(opened.kind);
      for await (const chunk of opened.body) text += Buffer.from(chunk).toString();
    }
    return text;
  } finally {
    bucket.close();
  }
}

describe('a proxy', () => {
  it('gets plain requests with their whole address, untidied, and its own password', async () => {
    process.env.HTTP_PROXY = `http://me:p%40ss@${address}`;
    expect(await read(server.origin, 'a/./b c.pdf')).toBe('aa');
    const user = Buffer.from('me:p@ss').toString('base64');
    expect(seen).toEqual(Array(2).fill(`GET ${server.origin}/b/a/./b%20c.pdf?x-id=GetObject Basic ${user}`));
    expect(server.seen.map((one) => one.headers['proxy-authorization'])).toEqual([undefined, undefined]);
  });

  it('is asked for a tunnel to https', async () => {
    process.env.https_proxy = address;
    const { port } = new URL(server.origin);
    // The server speaks no TLS: what matters is the way there.
    await expect(read(`https://127.0.0.1:${port}`, 'a.pdf')).rejects.toMatchObject({
      code: 'STORAGE_UNREACHABLE',
    });
    expect(seen[0]).toBe(`CONNECT 127.0.0.1:${port}`);
  });

  it('is passed by for the hosts in NO_PROXY', async () => {
    process.env.HTTP_PROXY = `http://${address}`;
    process.env.HTTPS_PROXY = `http://${address}`;
    process.env.NO_PROXY = 'other.example,127.0.0.1';
    expect(await read(server.origin, 'a.pdf')).toBe('aa');
    await expect(read(server.origin.replace('http:', 'https:'), 'a.pdf')).rejects.toThrow();
    expect(seen).toEqual([]);
  });

  it('must be an address', () => {
    expect(() => proxyOf({ HTTPS_PROXY: 'socks5://x' }, 'https')).toThrow('not the address');
    expect(proxyOf({ HTTPS_PROXY: '' }, 'https')).toBeUndefined();
  });
});

describe('NO_PROXY', () => {
  it.each<[string, string, number, boolean]>([
    ['example.com', 'example.com', 443, true],
    ['example.com', 's3.Example.com.', 443, true],
    ['.example.com', 's3.example.com', 443, true],
    ['*.example.com', 's3.example.com', 443, true],
    ['example.com', 'notexample.com', 443, false],
    ['example.com:9000', 'example.com', 9000, true],
    ['example.com:9000', 'example.com', 443, false],
    ['a b', 'b', 80, true],
    ['*', 'anything', 1, true],
    ['::1', '[::1]', 80, true],
    ['[::1]:80', '::1', 80, true],
    ['', 'example.com', 443, false],
  ])('%j for %s:%i is %s', (list, host, port, passes) => {
    expect(bypasses({ NO_PROXY: list }, host, port)).toBe(passes);
  });
});
