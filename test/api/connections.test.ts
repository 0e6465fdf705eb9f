import { afterEach, describe, expect, it, vi } from 'vitest';
import { createConnections } from '../../src/api/dispatcher.ts';
import { networkError } from '../../src/api/network-error.ts';
import { throwWithSubject } from '../../src/api/resources.ts';
import { BadResponseError, ServiceError } from '../../src/kernel/errors.ts';
import { clientFor } from '../support/client.ts';
import { startProxy } from '../support/proxy.ts';
import { startServer } from '../support/server.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function serve(...answer: Parameters<typeof startServer>) {
  const server = await startServer(...answer);
  cleanups.push(() => server.close());
  return server;
}

/** Sets the variables of a proxy that sends every request to this server. */
async function proxyTo(origin: string) {
  const proxy = await startProxy({ to: origin.slice('http://'.length) });
  cleanups.push(() => proxy.close());
  for (const name of ['http_proxy', 'https_proxy', 'HTTPS_PROXY', 'NO_PROXY', 'no_proxy'])
    vi.stubEnv(name, '');
  vi.stubEnv('HTTP_PROXY', `http://me:pass@${proxy.address}`);
  vi.stubEnv('HTTPS_PROXY', `http://me:pass@${proxy.address}`);
  return proxy;
}

describe('connections', () => {
  const get = async (target: string, timeoutMs = 5_000) => {
    const { dispatcher, proxy } = createConnections(new URL(target), timeoutMs);
    cleanups.push(() => dispatcher.close());
    const { origin, pathname: path } = new URL(target);
    const { statusCode, body } = await dispatcher.request({ origin, path, method: 'GET' });
    return { statusCode, text: await body.text(), proxy };
  };

  it('go directly to the host without a proxy', async () => {
    const server = await serve((_, response) => void response.end('direct'));
    expect(await get(`${server.origin}/a`)).toEqual({ statusCode: 200, text: 'direct', proxy: undefined });
  });

  it('go directly to a service in this process, whatever the proxy is', async () => {
    const server = await serve((_, response) => void response.end('direct'));
    const proxy = await proxyTo(server.origin);
    const { dispatcher } = createConnections(new URL(server.origin), 5_000, true);
    cleanups.push(() => dispatcher.close());
    const { body } = await dispatcher.request({ origin: server.origin, path: '/', method: 'GET' });
    expect([await body.text(), proxy.asked]).toEqual(['direct', []]);
  });

  it('send plain requests to the proxy, with the host and the password', async () => {
    const server = await serve((_, response) => void response.end('through'));
    const proxy = await proxyTo(server.origin);
    const reply = await get('http://service.test:81/a');
    expect([reply.text, reply.proxy?.variable]).toEqual(['through', 'HTTP_PROXY']);
    expect([proxy.asked, proxy.users]).toEqual([['GET http://service.test:81/a'], ['me:pass']]);
    expect(server.seen[0]?.headers.host).toBe('service.test:81');
  });

  it.each([
    ['https://service.test/a', 'CONNECT service.test:443'],
    ['https://service.test:444/a', 'CONNECT service.test:444'],
    ['https://[2001:db8::1]/a', 'CONNECT [2001:db8::1]:443'],
  ])('open a tunnel for %s', async (target, asked) => {
    // No certificate is needed, because the server ends the connection before TLS.
    const server = await serve((_, response) => void response.end());
    const proxy = await proxyTo(server.origin);
    await expect(get(target)).rejects.toThrow();
    expect([proxy.asked[0], proxy.users[0]]).toEqual([asked, 'me:pass']);
  });
});

describe('an error of the network', () => {
  const facts = { url: 'https://service.test/v1', timeoutMs: 30_000, timedOut: false };
  const proxy = { url: new URL('http://proxy.test:3128'), port: 3128, variable: 'HTTPS_PROXY' };
  const coded = (code: string, cause?: unknown) => Object.assign(new Error('why', { cause }), { code });

  it.each<[string, unknown, object, object]>([
    ['refused', coded('ECONNREFUSED'), {}, { code: 'NETWORK', maybeReceived: false, isLasting: false }],
    ['refused here', coded('ECONNREFUSED'), { url: 'http://127.0.0.1:1' }, { isLasting: true }],
    [
      'refused by a proxy here',
      coded('ECONNREFUSED'),
      { proxy: { ...proxy, url: new URL('http://localhost') } },
      { isLasting: true },
    ],
    ['refused by a proxy', coded('ECONNREFUSED'), { url: 'http://127.0.0.1:1', proxy }, { isLasting: false }],
    [
      'not found here',
      coded('ENOTFOUND'),
      { url: 'http://127.0.0.1:1' },
      { isLasting: false, maybeReceived: false },
    ],
    ['an invalid certificate', coded('CERT_HAS_EXPIRED'), {}, { maybeReceived: false, isLasting: true }],
    ['a slow proxy', coded('PROXY_TIMEOUT'), { proxy }, { code: 'TIMEOUT', maybeReceived: false }],
    ['a proxy that refuses', coded('PROXY_REFUSED'), { proxy }, { code: 'NETWORK', maybeReceived: false }],
    [
      'stopped',
      coded('UND_ERR_ABORTED'),
      { stopped: true, timedOut: true },
      { code: 'NETWORK', maybeReceived: true },
    ],
    ['timed out', new Error('x'), { timedOut: true }, { code: 'TIMEOUT', maybeReceived: true }],
    ['slow headers', coded('UND_ERR_HEADERS_TIMEOUT'), {}, { code: 'TIMEOUT', maybeReceived: true }],
    ['a slow body', coded('UND_ERR_BODY_TIMEOUT'), {}, { code: 'TIMEOUT', maybeReceived: true }],
    ['lost', coded('ECONNRESET'), {}, { code: 'NETWORK', maybeReceived: true, hint: undefined }],
    ['wrapped', coded('UND_ERR_OTHER', coded('ECONNREFUSED')), {}, { maybeReceived: false }],
    [
      'with a cause of less importance',
      coded('ECONNREFUSED', coded('ECONNRESET')),
      {},
      { maybeReceived: false },
    ],
    [
      'an expired certificate with a cause',
      coded('CERT_HAS_EXPIRED', coded('EPIPE')),
      {},
      { isLasting: true },
    ],
    ['a reset with a cause', coded('ECONNRESET', coded('ECONNREFUSED')), {}, { maybeReceived: true }],
    ['not an error', 'text', {}, { code: 'NETWORK', maybeReceived: true }],
  ])('is reported: %s', (_, error, more, expected) => {
    expect(networkError(error, { ...facts, ...more })).toMatchObject({ cause: error, ...expected });
  });

  it.each<[string, unknown, object, string]>([
    ['the variable of the proxy', coded('ECONNREFUSED'), { proxy }, 'HTTPS_PROXY'],
    ['the sandbox', coded('ECONNREFUSED'), {}, 'sandbox start'],
    ['the base URL', coded('ENOTFOUND'), {}, 'profiles show'],
    ['the base URL without TLS', coded('ERR_SSL_WRONG_VERSION_NUMBER'), {}, 'profiles show'],
    ['the time limit', new Error('x'), { timedOut: true }, '--timeout'],
  ])('has a hint to %s', (_, error, more, hint) => {
    expect(networkError(error, { ...facts, ...more }).hint).toContain(hint);
  });

  it('names the proxy, the limit, and the reason', () => {
    const messages = [
      networkError(coded('PROXY_REFUSED'), { ...facts, proxy }),
      networkError(new Error('x'), { ...facts, timedOut: true }),
      networkError(coded('EPIPE'), facts),
      networkError(coded('EOTHER'), facts),
    ].map(({ message }) => message);
    expect(messages[0]).toMatch(/proxy\.test.*why/);
    expect(messages[1]).toContain('30 seconds');
    expect(messages[2]).toContain('connection was closed');
    expect(messages[3]).toContain('why');
  });
});

describe('the error of a request about an envelope', () => {
  const subject = { kind: 'envelope', id: 'env_1' } as const;
  const similar = vi.fn(() => Promise.resolve(['env_2']));
  const missing = () => new ServiceError('NOT_FOUND', 'no', { status: 404 });

  it('names it, and similar ones if it is missing', async () => {
    await expect(throwWithSubject(subject, missing(), similar)).rejects.toMatchObject({
      subject: { ...subject, suggestions: ['env_2'] },
    });
    await expect(throwWithSubject(subject, missing(), undefined)).rejects.toMatchObject({ subject });
  });

  it('names only the envelope for any other error of the service', async () => {
    similar.mockClear();
    const refused = new ServiceError('INVALID_STATE', 'no', { status: 409 });
    await expect(throwWithSubject(subject, refused, similar)).rejects.toMatchObject({ subject });
    const bug = new Error('bug');
    await expect(throwWithSubject(subject, bug, similar)).rejects.toBe(bug);
    expect([similar.mock.calls.length, 'subject' in bug]).toEqual([0, false]);
  });
});

describe('a response that is not from the service', () => {
  it.each([
    [407, 'HTTP_PROXY'],
    [403, 'profiles show'],
  ])('has a hint for status %i', async (status, hint) => {
    const server = await serve((_, response) => void response.writeHead(status).end('<p>no</p>'));
    const error: unknown = await clientFor(server.origin, { retries: 0 })
      .envelopes.get('env_1')
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadResponseError);
    expect(error).toMatchObject({ status, hint: expect.stringContaining(hint) as unknown });
  });
});
