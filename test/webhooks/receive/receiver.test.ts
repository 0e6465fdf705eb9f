import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/webhooks/receive/delivery.ts';
import type { Receiver } from '../../../src/webhooks/receive/receiver.ts';
import { sign } from '../../../src/webhooks/receive/signature.ts';
import { startTestReceiver } from '../../support/webhooks.ts';

const SECRET = 'a-secret-of-more-than-16';
const BODY = '{"event":"envelope.signed","data":{"envelopeId":"env_1"}}';
const GOOD = sign(Buffer.from(BODY), SECRET);

let receiver: Receiver;
let port: number;
let accepted: Delivery[] = [];
let refused: Delivery[] = [];
let unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => unhandled.push(reason);

beforeEach(async () => {
  [accepted, refused, unhandled] = [[], [], []];
  process.on('unhandledRejection', onUnhandled);
  receiver = await startTestReceiver(SECRET, {
    onDelivery: (delivery) => {
      (delivery.reason === null ? accepted : refused).push(delivery);
    },
    onFailure: (error) => unhandled.push(error),
  });
  port = Number(new URL(receiver.url).port);
});
afterEach(async () => {
  process.off('unhandledRejection', onUnhandled);
  await receiver.close();
  expect(unhandled).toEqual([]);
});

describe('a compressed body', () => {
  const packed = gzipSync(BODY);
  it.each([
    ['gzip, signed before', packed, { 'content-encoding': 'gzip' }, GOOD, /401 the signature .* \(gzip\)/],
    ['gzip without a header', packed, {}, GOOD, /401 the signature .* \(gzip\)/],
    ['br, signed before', brotliCompressSync(BODY), { 'content-encoding': 'br' }, GOOD, /401 .* \(br\)/],
    ['gzip, signed after', packed, { 'content-encoding': 'gzip' }, sign(packed, SECRET), /400 .* \(gzip\)/],
    ['zstd, not signed', BODY, { 'content-encoding': 'zstd' }, 'x', /401 the signature is not lowercase hex/],
    [
      'identity',
      'other',
      { 'content-encoding': 'identity' },
      GOOD,
      /401 the signature does not match: it was/,
    ],
  ])('is named as the reason: %s', async (_, body, encoding, signature, expected) => {
    const headers = { 'x-service-signature': signature, ...encoding };
    const reply = await request(receiver.url, { method: 'POST', body, headers });
    await reply.body.dump();
    expect(`${reply.statusCode} ${refused.at(-1)?.reason ?? ''}`).toMatch(expected);
  });
});

async function deliver(): Promise<number> {
  const headers = { 'x-service-signature': GOOD };
  const reply = await request(receiver.url, { method: 'POST', body: Buffer.from(BODY), headers });
  await reply.body.dump();
  return reply.statusCode;
}

/** Sends the bytes, ends its side, and waits for the response. */
async function raw(bytes: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket
    .on('error', () => undefined)
    .on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
  socket.end(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  await once(socket, 'close');
  return text;
}

const LINE = 'POST /webhooks HTTP/1.1';
const HOST = 'Host: a';
const SIGNATURE = `X-Service-Signature: ${GOOD}`;
const LENGTH = `Content-Length: ${BODY.length}`;
const CHUNKED = 'Transfer-Encoding: chunked';
const message = (head: readonly string[], body = BODY) => `${head.join('\r\n')}\r\n\r\n${body}`;
const chunk = (size: string, text = BODY) => `${size}\r\n${text}\r\n0\r\n\r\n`;
const HEX = BODY.length.toString(16);

/** A valid request except for the given fault. */
const withLine = (line: string) => message([line, HOST, SIGNATURE, LENGTH]);
const withHeaders = (...headers: string[]) => message([LINE, HOST, SIGNATURE, LENGTH, ...headers]);
const withLength = (...lengths: string[]) => message([LINE, HOST, SIGNATURE, ...lengths]);
const withChunks = (body: string, ...headers: string[]) =>
  message([LINE, HOST, SIGNATURE, CHUNKED, ...headers], body);

const CONTROLS = ['\u0000', '\u0001', '\u0007', '\u0008', '\u000b', '\u000c', '\u001b', '\u007f'];
const MALFORMED: string[] = [
  // Request lines.
  ...['', ' ', 'POST', 'POST ', 'POST /webhooks', 'POST  HTTP/1.1', '/webhooks HTTP/1.1', 'HTTP/1.1 200 OK'],
  ...[
    '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  ],
  ...['POST', 'post', 'Post', 'PO ST', 'P\u0000ST', 'POSTT', 'XPOST', '"POST"', 'POST\t'].flatMap((method) =>
    method === 'POST' ? [] : [withLine(`${method} /webhooks HTTP/1.1`)],
  ),
  ...['HTTP/1.1x', 'http/1.1', 'HTTP/1,1', 'HTP/1.1', 'HTTP/', 'HTTP/1.1 x'].map((version) =>
    withLine(`POST /webhooks ${version}`),
  ),
  ...[
    '/web hooks',
    '/webhooks\u0000',
    '/webhooks#',
    '//webhooks',
    '/Webhooks',
    '/./webhooks',
    '/x/../webhooks',
  ].map((path) => withLine(`POST ${path} HTTP/1.1`)),
  ...['*', 'webhooks', '/webhooks;a', '/webhooks%00', 'a:80', '\\webhooks'].map((path) =>
    withLine(`POST ${path} HTTP/1.1`),
  ),
  // Header lines.
  ...CONTROLS.map((control) => withHeaders(`X-A: a${control}b`)),
  ...CONTROLS.map((control) => withHeaders(`X-${control}A: a`)),
  ...[
    'No-Colon',
    ': no name',
    'Sp ace: a',
    'Blank : a',
    ' Folded: a',
    '\tFolded: a',
    'X-A\u00e9: a',
    'X(A): a',
    'X-A: a\rb',
  ].map((header) => withHeaders(header)),
  message([LINE, SIGNATURE, LENGTH]),
  `${[LINE, HOST, SIGNATURE, LENGTH].join('\n')}\n\n${BODY}`,
  `${[LINE, HOST, SIGNATURE, LENGTH].join('\r')}\r\r${BODY}`,
  withHeaders(`X-Large: ${'a'.repeat(20_000)}`),
  withHeaders(...Array.from({ length: 3_000 }, (_, n) => `X-${n}: a`)),
  // Lengths.
  ...[
    '-1',
    '+57',
    '0x39',
    '57a',
    'a',
    '',
    ' ',
    '5 7',
    '57,58',
    '57, 57',
    '1e2',
    '57.0',
    '99999999999999999999',
    '\u00b2',
  ].map((length) => withLength(`Content-Length: ${length}`)),
  ...[
    ['1', '57'],
    ['57', '58'],
    ['57', '57'],
    ['58', '57'],
    ['', '57'],
  ].map((lengths) => withLength(...lengths.map((length) => `Content-Length: ${length}`))),
  withLength(`Content-Length: ${BODY.length + 1}`),
  withLength(`Content-Length: ${BODY.length - 1}`),
  withLength('Content-Length: 0'),
  withLength(),
  // Lengths and chunks together: two servers could disagree on the end.
  withHeaders(CHUNKED),
  message([LINE, HOST, SIGNATURE, CHUNKED, LENGTH], chunk(HEX)),
  message([LINE, HOST, SIGNATURE, LENGTH, 'Transfer-Encoding : chunked'], chunk(HEX)),
  message([LINE, HOST, SIGNATURE, LENGTH, 'Transfer-Encoding: identity'], BODY),
  ...['chunked, identity', 'identity', 'gzip', 'xchunked', 'chunked, gzip', 'chunke', '', '"chunked"'].map(
    (coding) => message([LINE, HOST, SIGNATURE, `Transfer-Encoding: ${coding}`], chunk(HEX)),
  ),
  ...[
    'zz',
    '-1',
    '',
    ' ',
    `0x${HEX}`,
    `${HEX} x`,
    'ffffffffffffffffff',
    `${HEX},`,
    `\t${HEX}`,
    '0',
    `${HEX}\u0000`,
  ].map((size) => withChunks(chunk(size))),
  withChunks(`${HEX}\r\n${BODY}`),
  withChunks(`${HEX}\n${BODY}\n0\n\n`),
  withChunks(`${HEX}\r\n${BODY}x\r\n0\r\n\r\n`),
  withChunks(`${HEX}\r\n${BODY}0\r\n\r\n`),
  withChunks(`${HEX}\r\n${BODY.slice(1)}\r\n0\r\n\r\n`),
  withChunks(`${HEX}\r\n${BODY}\r\n0\r\n`),
  // A signature in the wrong place.
  message(
    [LINE, HOST, CHUNKED, 'Trailer: X-Service-Signature'],
    `${HEX}\r\n${BODY}\r\n0\r\n${SIGNATURE}\r\n\r\n`,
  ),
  message([LINE, HOST, LENGTH], `${BODY}\r\n${SIGNATURE}\r\n\r\n`),
  message([`POST /webhooks?X-Service-Signature=${GOOD} HTTP/1.1`, HOST, LENGTH]),
  message([LINE, HOST, LENGTH, `Cookie: X-Service-Signature=${GOOD}`]),
  message([LINE, HOST, LENGTH, `X_Service_Signature: ${GOOD}`]),
  message([LINE, HOST, LENGTH, `X-Service-Signature:\r\n ${GOOD}`]),
];

describe('malformed requests over a raw socket with a valid signature', () => {
  it(`are not accepted (${MALFORMED.length} cases), and do no harm`, async () => {
    const taken: string[] = [];
    for (const bytes of MALFORMED) {
      const before = accepted.length;
      const answer = await raw(bytes);
      if (accepted.length > before || answer.startsWith('HTTP/1.1 200')) taken.push(bytes.slice(0, 300));
    }
    expect(taken).toEqual([]);
    expect(await deliver()).toBe(200);
  });
});

describe('slow senders', () => {
  it("are disconnected, and don't delay a valid delivery", async () => {
    const beginnings = [
      'P',
      LINE,
      `${LINE}\r\n${HOST}\r\nX-Slow: `,
      `${LINE}\r\n${HOST}\r\n${SIGNATURE}\r\n${LENGTH}\r\n\r\n`,
      `${LINE}\r\n${HOST}\r\n${SIGNATURE}\r\n${CHUNKED}\r\n\r\n5\r\n{"e`,
    ];
    const sockets: Socket[] = [];
    const closed: Promise<unknown>[] = [];
    for (let n = 0; n < 50; n++) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined).resume();
      sockets.push(socket);
      closed.push(once(socket, 'close'));
      await once(socket, 'connect');
      socket.write(beginnings[n % beginnings.length] ?? '');
    }
    for (const socket of sockets.filter(({ writable }) => writable)) socket.write('{');
    expect(await deliver()).toBe(200);
    expect(accepted).toHaveLength(1);
    await Promise.all(closed);
    expect(await deliver()).toBe(200);
  });
});

describe('several signature headers', () => {
  const other = sign(Buffer.from(BODY), 'another secret here');
  it.each([
    ['the same header twice', [SIGNATURE, SIGNATURE]],
    ['a valid and an invalid one', [SIGNATURE, `X-Service-Signature: ${other}`]],
    ['a different case', [SIGNATURE, `x-SERVICE-signature: ${GOOD}`]],
    ['an empty one first', ['X-Service-Signature:', SIGNATURE]],
    ['joined by a comma', [`X-Service-Signature: ${GOOD}, ${GOOD}`]],
  ])('are refused: %s', async (_, headers) => {
    const answer = await raw(message([LINE, HOST, LENGTH, 'Connection: close', ...headers]));
    expect(answer).toMatch(/^HTTP\/1\.1 401/);
    expect(accepted).toEqual([]);
  });
});

describe('a body in tiny chunks', () => {
  it('is accepted', async () => {
    const pieces = Array.from(BODY, (character) => `1\r\n${character}\r\n`).join('');
    expect(await raw(withChunks(`${pieces}0\r\n\r\n`))).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a response', () => {
  it('gives the reason only to the operator', async () => {
    const answer = await raw(message([LINE, HOST, LENGTH, 'Connection: close']));
    expect(answer).toMatch(/^HTTP\/1\.1 401[\s\S]*\r\n\r\ninvalid signature\n$/);
  });
});
