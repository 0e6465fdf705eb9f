import { promisify } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';

const lookup = vi.hoisted(() => vi.fn());
vi.mock('node:dns', () => ({ lookup }));
// Another test file of this worker may have loaded it with the real one.
vi.resetModules();
const { isLocalhostName, isLoopbackHost, lookupHost } = await import(
  '../../../src/kernel/network/localhost.ts'
);

afterEach(() => lookup.mockReset());

describe('localhost names', () => {
  it.each(['localhost', 'evil.localhost', 'a.b.LOCALHOST', 'x.localhost.'])(
    'resolves %s to this machine, without DNS',
    async (name) => {
      expect(isLocalhostName(name)).toBe(true);
      const all = await promisify(lookupHost)(name, { all: true });
      expect(all).toEqual([
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ]);
      expect(await promisify(lookupHost)(name, {})).toBe('127.0.0.1');
      expect(await promisify(lookupHost)(name, { family: 6 })).toBe('::1');
      expect(lookup).not.toHaveBeenCalled();
    },
  );

  it.each(['localhost.example', 'evillocalhost', '127.0.0.1.evil.test'])('looks up %s', async (name) => {
    expect(isLocalhostName(name)).toBe(false);
    lookup.mockImplementation(
      (_name: string, _options: unknown, done: (error: null, address: string) => void) =>
        done(null, '192.0.2.1'),
    );
    expect(await promisify(lookupHost)(name, {})).toBe('192.0.2.1');
  });
});

describe('a loopback host', () => {
  it.each([
    'http://localhost',
    'http://LOCALHOST:4010',
    'http://127.0.0.1',
    'http://127.255.255.254',
    'http://127.1',
    'http://[::1]:8080',
    'http://sandbox.localhost',
  ])('is that of %s', (address) => {
    expect(isLoopbackHost(new URL(address).hostname)).toBe(true);
  });

  it.each([
    'http://localhost.example.com',
    'http://notlocalhost',
    'http://mylocalhost.example',
    'http://127.0.0.1.example.com',
    'http://x127.0.0.1.example',
    'http://128.0.0.1',
    'http://[::2]',
    'http://[::1:1]',
    'http://[1::1]',
    'http://0.0.0.0',
  ])('is not that of %s', (address) => {
    expect(isLoopbackHost(new URL(address).hostname)).toBe(false);
  });
});
