import { describe, expect, it } from 'vitest';
import { networkError } from '../../../src/api/connection/network-error.ts';

const facts = { url: 'https://api.example.com/api/v1/esign?x=1', timeoutMs: 30_000, timedOut: false };
const proxy = { url: new URL('http://proxy.test:3128'), port: 3128, variable: 'HTTPS_PROXY' };
const coded = (code: string, cause?: unknown) => Object.assign(new Error('why', { cause }), { code });
const failed = (syscall: string, code: string) => Object.assign(coded(code), { syscall });
const several = (code: string, ...errors: Error[]) => Object.assign(new AggregateError(errors), { code });

describe('an error of the network', () => {
  // A request that was never sent is safe to repeat. Anything unknown may have been received.
  it.each<[string, unknown, object, object]>([
    [
      'a refused connection',
      failed('connect', 'ECONNREFUSED'),
      {},
      { maybeReceived: false, isLasting: false },
    ],
    [
      'a refused connection on this machine',
      failed('connect', 'ECONNREFUSED'),
      { url: 'http://127.0.0.1:1' },
      { isLasting: true },
    ],
    [
      'a refused connection to a proxy',
      failed('connect', 'ECONNREFUSED'),
      { url: 'http://127.0.0.1:1', proxy },
      { isLasting: false },
    ],
    ['an unknown host', coded('ENOTFOUND'), {}, { maybeReceived: false }],
    ['no route', failed('connect', 'EHOSTUNREACH'), {}, { maybeReceived: false }],
    ['no network', failed('connect', 'ENETUNREACH'), {}, { maybeReceived: false }],
    [
      'two addresses that refuse',
      several('ECONNREFUSED', failed('connect', 'ECONNREFUSED'), failed('connect', 'ENETUNREACH')),
      {},
      { maybeReceived: false },
    ],
    // A router or a firewall may report these of a connection over which the request was sent.
    ['a lost route while reading', failed('read', 'EHOSTUNREACH'), {}, { maybeReceived: true }],
    ['a lost route while writing', failed('write', 'EHOSTUNREACH'), {}, { maybeReceived: true }],
    ['a lost network while reading', failed('read', 'ENETUNREACH'), {}, { maybeReceived: true }],
    ['a refusal while reading', failed('read', 'ECONNREFUSED'), {}, { maybeReceived: true }],
    [
      'a lost route as a cause',
      coded('UND_ERR_OTHER', failed('read', 'EHOSTUNREACH')),
      {},
      { maybeReceived: true },
    ],
    ['a lost route without more', coded('EHOSTUNREACH'), {}, { maybeReceived: true }],
    ['a slow connection', coded('UND_ERR_CONNECT_TIMEOUT'), {}, { maybeReceived: false }],
    [
      'an expired certificate',
      coded('CERT_HAS_EXPIRED', coded('EPIPE')),
      {},
      { maybeReceived: false, isLasting: true },
    ],
    ['an unknown authority', coded('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'), {}, { maybeReceived: false }],
    ['a slow proxy', coded('PROXY_TIMEOUT'), { proxy }, { code: 'TIMEOUT', maybeReceived: false }],
    ['a proxy that refuses', coded('PROXY_REFUSED'), { proxy }, { code: 'NETWORK', maybeReceived: false }],
    [
      'a stop',
      coded('UND_ERR_ABORTED'),
      { stopped: true, timedOut: true },
      { code: 'NETWORK', maybeReceived: true },
    ],
    ['a timeout', new Error('x'), { timedOut: true }, { code: 'TIMEOUT', maybeReceived: true }],
    ['slow headers', coded('UND_ERR_HEADERS_TIMEOUT'), {}, { code: 'TIMEOUT', maybeReceived: true }],
    ['a slow body', coded('UND_ERR_BODY_TIMEOUT'), {}, { code: 'TIMEOUT', maybeReceived: true }],
    [
      'a reset with another cause',
      coded('ECONNRESET', failed('connect', 'ECONNREFUSED')),
      {},
      { maybeReceived: true },
    ],
    ['a short response', coded('UND_ERR_RES_CONTENT_LENGTH_MISMATCH'), {}, { maybeReceived: true }],
    ['a cause', coded('UND_ERR_OTHER', failed('connect', 'ECONNREFUSED')), {}, { maybeReceived: false }],
    ['an unknown code', coded('constructor'), {}, { code: 'NETWORK', maybeReceived: true }],
    ['a text', 'text', {}, { code: 'NETWORK', maybeReceived: true }],
  ])('is classified: %s', (_, error, more, expected) => {
    expect(networkError(error, { ...facts, ...more })).toMatchObject({ cause: error, ...expected });
  });

  it('is reported as never sent even if the time limit passes at the same moment', () => {
    expect(networkError(coded('ENOTFOUND'), { ...facts, timedOut: true })).toMatchObject({
      code: 'NETWORK',
      maybeReceived: false,
    });
  });

  it.each<[string, unknown, object, string]>([
    ['the variable of the proxy', failed('connect', 'ECONNREFUSED'), { proxy }, 'HTTPS_PROXY'],
    ['the sandbox', failed('connect', 'ECONNREFUSED'), { url: 'http://127.0.0.1:1' }, 'sandbox start'],
    ['the base URL', coded('ENOTFOUND'), {}, 'profiles show'],
    ['the certificates', coded('SELF_SIGNED_CERT_IN_CHAIN'), {}, 'NODE_EXTRA_CA_CERTS'],
    ['the time limit', new Error('x'), { timedOut: true }, '--timeout'],
  ])('has a hint to %s', (_, error, more, hint) => {
    expect(networkError(error, { ...facts, ...more }).hint).toContain(hint);
  });
});
