import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/kernel/errors.ts';
import {
  authorization,
  isExempt,
  proxyFor,
  proxyLabel,
  proxySecrets,
} from '../../../src/kernel/network/proxy.ts';

const way = (env: Record<string, string>, address: string) => {
  const proxy = proxyFor(env, new URL(address));
  return proxy === undefined ? 'direct' : proxyLabel(proxy);
};

describe('the proxy of an address', () => {
  it.each<[string, Record<string, string>, string]>([
    ['https://api.example', {}, 'direct'],
    ['https://api.example', { HTTPS_PROXY: 'http://p:1' }, 'http://p:1 (HTTPS_PROXY)'],
    ['https://api.example', { HTTPS_PROXY: 'http://p:1', https_proxy: 'q:2' }, 'http://q:2 (https_proxy)'],
    ['https://api.example', { HTTPS_PROXY: 'http://p:1', https_proxy: '' }, 'http://p:1 (HTTPS_PROXY)'],
    ['https://api.example', { HTTP_PROXY: 'http://p:1' }, 'direct'],
    ['http://api.example', { HTTP_PROXY: 'http://p:1' }, 'http://p:1 (HTTP_PROXY)'],
    ['http://api.example', { HTTPS_PROXY: 'http://p:1' }, 'direct'],
    ['http://api.example', { HTTP_PROXY: '127.0.0.1:3128' }, 'http://127.0.0.1:3128 (HTTP_PROXY)'],
    ['https://api.example', { https_proxy: 'https://me:secret@p' }, 'https://p (https_proxy)'],
    ['https://api.example', { ALL_PROXY: 'http://p:1' }, 'http://p:1 (ALL_PROXY)'],
    ['http://api.example', { ALL_PROXY: 'http://p:1', HTTP_PROXY: 'http://q:2' }, 'http://q:2 (HTTP_PROXY)'],
    ['http://api.example', { ALL_PROXY: 'http://p:1', all_proxy: 'http://q:2' }, 'http://q:2 (all_proxy)'],
    ['http://api.example', { ALL_PROXY: 'http://p:1', NO_PROXY: 'api.example' }, 'direct'],
    ['https://api.example', { https_proxy: 'socks5://p:1', NO_PROXY: '.example' }, 'direct'],
    ['http://evil.localhost', { HTTP_PROXY: 'http://p:1' }, 'direct'],
    ['http://localhost', { HTTP_PROXY: 'http://p:1' }, 'direct'],
    ['http://127.0.0.1:4010', { HTTP_PROXY: 'http://p:1' }, 'direct'],
    ['http://127.8.9.1', { HTTP_PROXY: 'http://p:1' }, 'direct'],
    ['http://127.1', { HTTP_PROXY: 'http://p:1' }, 'direct'],
    ['http://[::1]:4010', { HTTP_PROXY: 'http://p:1' }, 'direct'],
    ['http://[::ffff:127.0.0.1]', { HTTP_PROXY: 'http://p:1' }, 'direct'],
    ['https://127.0.0.1', { HTTPS_PROXY: 'http://p:1' }, 'http://p:1 (HTTPS_PROXY)'],
    ['http://127.0.0.1.example', { HTTP_PROXY: 'http://p:1' }, 'http://p:1 (HTTP_PROXY)'],
    ['http://10.127.0.1', { HTTP_PROXY: 'http://p:1' }, 'http://p:1 (HTTP_PROXY)'],
    ['http://evillocalhost', { HTTP_PROXY: 'http://p:1' }, 'http://p:1 (HTTP_PROXY)'],
  ])('is chosen for %s with %j: %s', (address, env, expected) => {
    expect(way(env, address)).toBe(expected);
  });

  it.each(['ftp://p:1', 'http://', 'http://p:99999', 'p:0', 'http://a b'])(
    'is refused if it is %j',
    (bad) => {
      const failing = () => way({ HTTPS_PROXY: bad }, 'https://api.example');
      expect(failing).toThrow('HTTPS_PROXY is not');
    },
  );
});

describe("a proxy that the program can't use", () => {
  const refusal = (env: Record<string, string>) => {
    try {
      return way(env, 'https://api.example');
    } catch (error) {
      return error instanceof UsageError ? `${error.message} ${error.hint}` : error;
    }
  };

  it.each(['socks5://p:1', 'socks5h://p:1', 'socks4://p:1', 'SOCKS5://me:pw@p:1', 'socks://p'])(
    'is named: %s',
    (value) => {
      expect(refusal({ ALL_PROXY: value })).toContain("ALL_PROXY is a SOCKS proxy, which esign can't use.");
    },
  );

  it.each([
    'http://DOMAIN\\user:hunter2@127.0.0.1:4899',
    'DOMAIN\\user:hunter2@p:1',
    'http://user:hunter2#x@p:1',
    'http://user:hunter2/x@p:1',
    'http://user:hunter2?x@p:1',
  ])('is named without its password: %s', (value) => {
    const text = refusal({ HTTPS_PROXY: value });
    expect(text).toContain('The user name or password in HTTPS_PROXY contains');
    expect(text).toContain('%5C');
    expect(text).not.toContain('hunter2');
  });

  it('is used with escaped characters', () => {
    expect(refusal({ HTTPS_PROXY: 'http://DOMAIN%5Cuser:a%23b@p:1' })).toBe('http://p:1 (HTTPS_PROXY)');
  });
});

describe('NO_PROXY', () => {
  it.each<[string, string, boolean]>([
    ['example.com', 'https://example.com', true],
    ['example.com', 'https://s3.Example.com.', true],
    ['.example.com', 'https://s3.example.com', true],
    ['*.example.com', 'https://s3.example.com', true],
    ['example.com', 'https://notexample.com', false],
    ['example.com:9000', 'http://example.com:9000', true],
    ['example.com:9000', 'https://example.com', false],
    ['example.com:443', 'https://example.com', true],
    ['example.com:80', 'http://example.com', true],
    ['127.0.0.1:9999', 'https://127.0.0.1:4010', false],
    ['a b', 'http://b', true],
    ['x, ,b', 'http://b', true],
    ['*', 'http://anything', true],
    ['::1', 'https://[::1]:80', true],
    ['0:0:0:0:0:0:0:1', 'https://[::1]', true],
    ['[::1]:443', 'https://[::1]', true],
    ['[::1]:81', 'https://[::1]', false],
    ['10.0.0.0/8', 'http://10.1.2.3', true],
    ['10.0.0.0/8', 'http://11.1.2.3', false],
    ['10.0.0.0/8', 'http://ten.example', false],
    ['fd00::/8', 'http://[fd12::1]', true],
    ['fd00::/8', 'http://10.1.2.3', false],
    ['10.0.0.0/99', 'http://10.1.2.3', false],
    ['', 'https://example.com', false],
  ])('exempts as %j the address %s: %s', (list, address, exempt) => {
    expect(isExempt({ NO_PROXY: list }, new URL(address))).toBe(exempt);
    expect(isExempt({ no_proxy: list, NO_PROXY: 'none.example' }, new URL(address))).toBe(exempt);
  });
});

describe("a proxy's password", () => {
  it('is decoded and sent to the proxy', () => {
    const env = { HTTP_PROXY: 'http://me:p%40ss@p', HTTPS_PROXY: 'http://me:100%@p' };
    const credentials = ['http://x', 'https://x'].map((address) => {
      const proxy = proxyFor(env, new URL(address));
      const header = proxy && authorization(proxy)['proxy-authorization'];
      return Buffer.from(header?.replace('Basic ', '') ?? '', 'base64').toString();
    });
    expect(credentials).toEqual(['me:p@ss', 'me:100%']);
  });

  it('is redacted in all its forms, even in an invalid address', () => {
    const basic = Buffer.from('me:p@ssword').toString('base64');
    const env = { HTTP_PROXY: 'http://me:p%40ssword@p', HTTPS_PROXY: 'http://' };
    expect(proxySecrets(env)).toEqual(['p%40ssword', 'p@ssword', basic]);
  });
});
