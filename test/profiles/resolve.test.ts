import { describe, expect, it } from 'vitest';
import { NoProfileError, UsageError } from '../../src/kernel/errors.ts';
import { requireConnection, resolveSettings } from '../../src/profiles/resolve.ts';

const store = {
  current: 'acme',
  profiles: {
    acme: { baseUrl: 'https://acme.example/api/v1', apiKey: 'key-of-acme', storage: { bucket: 'b' } },
    other: { baseUrl: 'https://other.example/api/v1', apiKeyCommand: 'print-key' },
    sandbox: { baseUrl: 'http://127.0.0.1:4010/api/v1', apiKey: 'key-of-sandbox' },
  },
};
const none = { current: undefined, profiles: {} };

describe('settings', () => {
  it('come from the current profile when nothing else is said', () => {
    expect(resolveSettings({ flags: {}, env: {}, store })).toMatchObject({
      profileName: { value: 'acme', source: 'default' },
      baseUrl: { value: 'https://acme.example/api/v1', source: 'profile' },
      apiKey: { value: 'key-of-acme', source: 'profile', kind: 'key' },
      timeoutMs: { value: 30_000, source: 'default' },
      storage: { bucket: 'b' },
    });
  });

  it('take flag before environment before profile, each for itself', () => {
    const env = {
      ESIGN_BASE_URL: 'https://env.example/api/v1',
      ESIGN_API_KEY: 'key-of-env',
      ESIGN_TIMEOUT: '5s',
      ESIGN_PROFILE: 'other',
    };
    expect(resolveSettings({ flags: {}, env, store })).toMatchObject({
      profileName: { value: 'other', source: 'environment' },
      baseUrl: { value: 'https://env.example/api/v1', source: 'environment' },
      apiKey: { value: 'key-of-env', source: 'environment' },
      timeoutMs: { value: 5_000, source: 'environment' },
    });
    expect(
      resolveSettings({ flags: { baseUrl: 'https://flag.example/v1/', timeout: '2m' }, env, store }),
    ).toMatchObject({
      baseUrl: { value: 'https://flag.example/v1', source: 'flag' },
      timeoutMs: { value: 120_000, source: 'flag' },
    });
  });

  it('need no profile when the environment has both', () => {
    const env = { ESIGN_BASE_URL: 'https://env.example/api/v1', ESIGN_API_KEY: 'k' };
    expect(resolveSettings({ flags: {}, env, store: none }).profileName).toBeUndefined();
    expect(requireConnection(resolveSettings({ flags: {}, env, store: none }))).toMatchObject({
      baseUrl: env.ESIGN_BASE_URL,
    });
  });

  it('refuse an explicit profile together with a key in the environment', () => {
    expect(() => resolveSettings({ flags: { profile: 'acme' }, env: { ESIGN_API_KEY: 'k' }, store })).toThrow(
      UsageError,
    );
  });

  it('use the sandbox profile for sandbox commands, unless told otherwise', () => {
    const at = (flags: { profile?: string }) =>
      resolveSettings({ flags, env: {}, store, fallbackProfile: 'sandbox' }).profileName?.value;
    expect([at({}), at({ profile: 'acme' })]).toEqual(['sandbox', 'acme']);
  });

  it('name what is missing, and the two ways on', () => {
    expect(() => requireConnection(resolveSettings({ flags: {}, env: {}, store: none }))).toThrow(
      NoProfileError,
    );
    expect(() => resolveSettings({ flags: { profile: 'nope' }, env: {}, store })).toThrow(
      'no profile named nope',
    );
    expect(() => resolveSettings({ flags: { timeout: 'soon' }, env: {}, store })).toThrow(
      'not a length of time',
    );
  });
});
