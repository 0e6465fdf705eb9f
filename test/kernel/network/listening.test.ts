import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { closeServer, listenOn, originOf } from '../../../src/kernel/network/listening.ts';

describe('servers on this machine', () => {
  const server = createServer((request, response) => response.end(request.url));
  afterEach(() => closeServer(server));

  it.each([
    ['/v1/envelopes?limit=1', '/v1/envelopes?limit=1'],
    ['http://127.0.0.1:4010/v1/envelopes?limit=1', '/v1/envelopes?limit=1'],
    ['HTTP://localhost', '/'],
    ['https://[::1]:4010?limit=1', '/?limit=1'],
    ['*', '*'],
    ['/http://127.0.0.1/', '/http://127.0.0.1/'],
  ])('takes %s for %s', async (target, path) => {
    await listenOn(server, 0, '127.0.0.1');
    const socket = connect(Number(new URL(originOf(server, '127.0.0.1')).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
    const [, body] = (await text(socket)).split('\r\n\r\n');
    expect(body).toBe(path);
  });
});
