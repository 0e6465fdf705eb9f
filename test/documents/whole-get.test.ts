import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { SMALL, WholeGets } from '../../src/documents/whole-get.ts';
import { certify } from '../support/certificates.ts';

let server: Server | undefined;
let gets: WholeGets | undefined;
const sockets = new Set<Socket>();
let connections = 0;
let requests: string[] = [];

afterEach(() => {
  gets?.close();
  for (const socket of sockets) socket.destroy();
  server?.close();
  connections = 0;
  requests = [];
});

/** A server that sends for each request the pieces it is given, in writes of their own. */
async function serve(pieces: () => (string | Buffer)[], made?: Server): Promise<void> {
  const each = (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      requests.push(data.toString());
      void (async () => {
        for (const piece of pieces()) {
          if (piece === 'END') socket.end();
          else await new Promise((resolve) => socket.write(piece, resolve));
          await new Promise(setImmediate);
        }
      })();
    });
  };
  server = made ?? createServer();
  server.on(made === undefined ? 'connection' : 'secureConnection', each);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  gets = new WholeGets({ secure: made !== undefined, hostname: '127.0.0.1', port }, 2_000);
}

const get = async (signal?: AbortSignal) => gets?.get('/b/k', { host: 'h', 'x-amz-date': 'd' }, signal);
const head = (length: number, more = '') => `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n${more}\r\n`;

async function textOf(signal?: AbortSignal): Promise<string | undefined> {
  const answer = await get(signal);
  if (answer === 'large') return answer;
  const text = answer && Buffer.from(answer.whole.bytes).toString();
  answer?.whole.release();
  return text;
}

describe('a small object', () => {
  it('comes in one piece, whatever the pieces it is sent in, over connections that are kept', async () => {
    const whole = `${head(5, 'ETag: "x"\r\n')}hello`;
    const ways = [[whole], [...whole], [head(5), 'hel', 'lo'], [`${head(5)}h`, 'ello']];
    await serve(() => ways.shift() ?? []);
    for (let turn = 0; turn < 4; turn++) expect(await textOf()).toBe('hello');
    expect(connections).toBeLessThan(3);
    expect(requests[0]?.split('\r\n')).toEqual(
      expect.arrayContaining(['GET /b/k HTTP/1.1', 'host: h', 'x-amz-date: d']),
    );
  });

  it('comes with its headers, and many at once each with their own bytes', async () => {
    let next = 0;
    await serve(() => {
      const body = Buffer.alloc(150_000, String(next++ % 10));
      return [head(body.byteLength, 'ETag: "x"\r\nX-Two: 1\r\nx-two: 2\r\n'), body];
    });
    const answers = await Promise.all(Array.from({ length: 12 }, () => get()));
    const seen = answers.map((answer) => {
      if (answer === undefined || answer === 'large') return answer;
      expect(answer.headers).toMatchObject({ etag: '"x"', 'x-two': '1, 2', 'content-length': '150000' });
      const [first] = answer.whole.bytes;
      expect(answer.whole.bytes.every((byte) => byte === first)).toBe(true);
      return String.fromCharCode(first ?? 0);
    });
    expect(seen.sort().join('')).toBe('001123456789');
  });

  it('may be empty, and a connection that is said to close is not used again', async () => {
    await serve(() => [head(0, 'Connection: close\r\n')]);
    expect([await textOf(), await textOf()]).toEqual(['', '']);
    expect(connections).toBe(2);
  });

  it('is left to others when it is large', async () => {
    await serve(() => [head(SMALL + 1), 'x']);
    expect(await textOf()).toBe('large');
  });

  it.each([
    ['an error', ['HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n']],
    ['a part', ['HTTP/1.1 206 Partial\r\nContent-Length: 1\r\n\r\nx']],
    ['no length', ['HTTP/1.1 200 OK\r\n\r\nx']],
    ['two lengths', ['HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx']],
    ['chunks', [head(1, 'Transfer-Encoding: chunked\r\n'), '1\r\nx\r\n0\r\n\r\n']],
    ['a packed body', [head(1, 'Content-Encoding: gzip\r\n'), 'x']],
    ['a folded header', [head(1, 'A: b\r\n c\r\n'), 'x']],
    ['no HTTP', ['SSH-2.0-OpenSSH\r\n\r\n']],
    ['an endless head', [`HTTP/1.1 200 OK\r\nA: ${'a'.repeat(20_000)}`]],
    ['a body cut short', [head(5), 'he', 'END']],
    ['nothing', ['END']],
  ])('is not made of %s', async (_, pieces) => {
    await serve(() => pieces);
    expect(await textOf()).toBeUndefined();
  });

  it('is given up with the signal, when nothing comes, and when a header could not be sent', async () => {
    await serve(() => [head(5), 'he']);
    const controller = new AbortController();
    const asked = textOf(controller.signal);
    while (requests.length === 0) await new Promise(setImmediate);
    controller.abort();
    expect(await asked).toBeUndefined();
    expect(await textOf(controller.signal)).toBeUndefined();
    expect(await textOf()).toBeUndefined();
    expect(requests).toHaveLength(2);
    expect(await gets?.get('/b/k', { token: 'a\r\nb: c' }, undefined)).toBeUndefined();
    expect(requests).toHaveLength(2);
  });

  it('does not come over TLS that nobody vouches for', async () => {
    await serve(() => [`${head(1)}x`], createTlsServer(await certify('nobody')));
    expect(await textOf()).toBeUndefined();
    expect(requests).toEqual([]);
  });
});
