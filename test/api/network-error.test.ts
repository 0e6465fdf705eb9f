import { createServer as createTlsServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { networkError } from '../../src/api/network-error.ts';
import { NetworkError } from '../../src/kernel/errors.ts';
import { certify } from '../support/certificates.ts';
import { clientFor } from '../support/client.ts';
import { portOf, startServer } from '../support/server.ts';

const BASE_URL_HINT = 'Check the base URL with `esign profiles show`.';
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** Returns the error of a read from a service at this address. */
async function failureAt(origin: string, timeoutMs = 5_000): Promise<NetworkError> {
  const error: unknown = await clientFor(origin, { retries: 0, timeoutMs })
    .envelopes.get('env_1')
    .catch((thrown: unknown) => thrown);
  if (!(error instanceof NetworkError)) throw new Error(`not a NetworkError: ${String(error)}`);
  return error;
}

/** A TCP server that handles each connection as the test specifies. */
async function rawServer(handle: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => handle(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  cleanups.push(() => server.close());
  return `127.0.0.1:${portOf(server)}`;
}

describe('a request without a response', () => {
  it('was never sent if nothing is listening', async () => {
    const server = await startServer(() => undefined);
    await server.close();
    expect(await failureAt(server.origin)).toMatchObject({
      code: 'NETWORK',
      maybeReceived: false,
      // A retry can't make a local server start.
      isLasting: true,
      message: `Can't reach ${server.origin}: connection refused.`,
      hint: expect.stringContaining('`esign sandbox start`') as unknown,
      cause: { code: 'ECONNREFUSED' },
    });
  });

  it('may have been received if the connection is reset', async () => {
    const address = await rawServer((socket) => void socket.resetAndDestroy());
    expect(await failureAt(`http://${address}`)).toMatchObject({
      code: 'NETWORK',
      maybeReceived: true,
      message: expect.stringMatching(`${address} was lost: .* reset`) as unknown,
      hint: undefined,
    });
  });

  it('may have been received if the connection is closed midway', async () => {
    const address = await rawServer((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le'));
    expect(await failureAt(`http://${address}`)).toMatchObject({
      maybeReceived: true,
      message: expect.stringMatching(`${address} was lost: .* closed`) as unknown,
    });
  });

  it("may have been received if the server doesn't speak HTTP", async () => {
    const address = await rawServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n\r\n'));
    expect(await failureAt(`http://${address}`)).toMatchObject({
      maybeReceived: true,
      message: expect.stringMatching(`${address} was lost: .* HTTP`) as unknown,
      hint: BASE_URL_HINT,
    });
  });

  it("may have been received if the server doesn't speak TLS", async () => {
    const server = await startServer((_, response) => void response.end());
    cleanups.push(() => server.close());
    const origin = server.origin.replace('http:', 'https:');
    expect(await failureAt(origin)).toMatchObject({
      maybeReceived: true,
      message: expect.stringMatching(`${origin} was lost: .* TLS`) as unknown,
      hint: BASE_URL_HINT,
    });
  });

  it('may have been received after a timeout', async () => {
    const server = await startServer(() => undefined);
    cleanups.push(() => server.close());
    expect(await failureAt(server.origin, 300)).toMatchObject({
      code: 'TIMEOUT',
      maybeReceived: true,
      message: expect.stringMatching(`^${server.origin} .* 0\\.3 seconds`) as unknown,
      hint: expect.stringContaining('--timeout 60s') as unknown,
    });
  });
});

describe('an untrusted certificate', () => {
  it('distinguishes an untrusted certificate from a network outage, and names NODE_EXTRA_CA_CERTS', async () => {
    const authority = await certify('esign test authority');
    const leaf = await certify('service', authority);
    for (const [certified, why] of [
      [authority, 'its TLS certificate is self-signed'],
      [leaf, 'its TLS certificate is from an untrusted authority'],
    ] as const) {
      const server = createTlsServer(certified);
      await new Promise<void>((resolve) => {
        server.listen(0, '127.0.0.1', resolve);
      });
      const port = portOf(server);
      expect(await failureAt(`https://127.0.0.1:${port}`)).toMatchObject({
        code: 'NETWORK',
        maybeReceived: false,
        message: `Can't reach https://127.0.0.1:${port}: ${why}.`,
        hint: expect.stringContaining('NODE_EXTRA_CA_CERTS') as unknown,
      });
      server.close();
    }
  });
});

describe('an error of the HTTP layer', () => {
  const facts = { url: 'https://api.example.com/api/v1/esign?x=1', timeoutMs: 30_000, timedOut: false };
  const failure = (code: string, more: object = {}) =>
    Object.assign(new Error('words of a library'), { code }, more);

  it.each([
    ['ENOTFOUND', 'the host was not found (DNS)', 'network connection'],
    ['EAI_AGAIN', 'the name server did not respond (DNS)', 'network connection'],
    ['EHOSTUNREACH', 'no route to the host', 'network connection'],
    ['ENETUNREACH', 'the network is unreachable', 'network connection'],
    ['UND_ERR_CONNECT_TIMEOUT', 'it did not accept the connection in time', 'network connection'],
    ['CERT_HAS_EXPIRED', 'its TLS certificate has expired', 'the base URL'],
    [
      'CERT_NOT_YET_VALID',
      "its TLS certificate is not valid yet; check this machine's clock",
      'the base URL',
    ],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'its TLS certificate is for a different host', 'the base URL'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'its TLS certificate chain is self-signed', 'NODE_EXTRA_CA_CERTS'],
    [
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'its TLS certificate is from an untrusted authority',
      'NODE_EXTRA_CA_CERTS',
    ],
  ])('treats %s as never sent', (code, why, hint) => {
    const error = failure(code);
    // A request that was never sent is safe to repeat, even if the timeout passed at the same moment.
    for (const timedOut of [false, true]) {
      const read = networkError(error, { ...facts, timedOut });
      expect(read).toMatchObject({ code: 'NETWORK', maybeReceived: false, cause: error });
      expect(read.message).toBe(`Can't reach https://api.example.com: ${why}.`);
      expect(read.hint).toContain(hint);
    }
  });

  it.each([
    ['EPIPE', 'the connection was closed'],
    ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'the response was cut short'],
    ['SOMETHING_NEW', 'words of a library'],
    ['constructor', 'words of a library'],
  ])('treats %s as possibly received', (code, why) => {
    expect(networkError(failure(code), facts)).toMatchObject({
      code: 'NETWORK',
      maybeReceived: true,
      message: expect.stringContaining(`https://api.example.com was lost: ${why}`) as unknown,
    });
  });

  it.each(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])('treats %s as a timeout', (code) => {
    expect(networkError(failure(code), facts)).toMatchObject({
      code: 'TIMEOUT',
      maybeReceived: true,
      message: expect.stringMatching(/^https:\/\/api\.example\.com .* 30 seconds/) as unknown,
    });
  });

  it('classifies an error by its cause if its own code is unknown', () => {
    const cause = failure('ENOTFOUND');
    expect(networkError(new Error('failed', { cause }), facts).maybeReceived).toBe(false);
    expect(networkError(failure('UND_ERR', { cause }), facts).maybeReceived).toBe(false);
    expect(networkError(failure('ECONNRESET', { cause }), facts).maybeReceived).toBe(true);
    expect(networkError(failure('EPIPE', { cause: failure('ODD') }), facts).message).toContain('was closed.');
  });

  it('accepts any value that can be thrown', () => {
    expect(networkError('just words', facts).message).toMatch(/api\.example\.com .*: just words/);
    expect(networkError(undefined, facts).maybeReceived).toBe(true);
  });
});
