import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { closeServer, openPort } from '../../../src/kernel/network/listening.ts';
import { limitConnections } from '../../../src/webhooks/receive/connections.ts';
import { eventually } from '../../support/eventually.ts';

const MAX = 5;
let server: Server;
let origin: string;
let closed: number;
/** Ends the requests that are being processed. */
let finish: (() => void)[];

beforeEach(async () => {
  [closed, finish] = [0, []];
  server = createServer((request, response) => {
    if (request.url === '/slow') finish.push(() => response.end('slow'));
    else response.end('quick');
    request.resume();
  });
  limitConnections(server, MAX, () => closed++);
  origin = await openPort(server, { host: '127.0.0.1', port: 0, what: 'listen' });
});
afterEach(() => closeServer(server));

async function opened(text = ''): Promise<Socket> {
  const port = Number(new URL(origin).port);
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  if (text !== '') socket.write(text);
  return socket.resume();
}

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const isAnswered = async (text: string) => {
  const socket = await opened();
  const reply = once(socket, 'data').then(String);
  socket.write(text);
  const end = once(socket, 'close').then(() => 'closed');
  return (await Promise.race([reply, end])).startsWith('HTTP/1.1 200');
};

it.each([
  ['send nothing', ''],
  ['send half a request', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx'],
  ['are kept alive after a request', GET],
])('closes the connections that have waited longest, of those that %s', async (_, text) => {
  const strangers: Socket[] = [];
  for (let n = 0; n < MAX + 3; n++) strangers.push(await opened(text));
  await eventually(() =>
    expect(strangers.map((one) => one.closed)).toEqual(strangers.map((_, index) => index < 3)),
  );
  for (let n = 0; n < 3 * MAX; n++) expect(await isAnswered(GET)).toBe(true);
  expect(closed).toBeGreaterThan(MAX);
});

it('never closes a connection whose request is being processed', async () => {
  const slow = isAnswered('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
  await eventually(() => expect(finish).toHaveLength(1));
  for (let n = 0; n < 3 * MAX; n++) await opened();
  for (const end of finish) end();
  expect(await slow).toBe(true);
});

it('closes nothing below the limit', async () => {
  for (let n = 0; n < 3 * MAX; n++) {
    const socket = await opened(GET);
    socket.destroy();
    await once(socket, 'close');
  }
  await Promise.all(Array.from({ length: MAX - 1 }, () => opened()));
  expect(closed).toBe(0);
});
