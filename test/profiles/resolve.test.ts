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
  it('come from the current profile by default', () => {
    expect(resolveSettings({ flags: {}, env: {}, store })).toMatchObject({
      profileName: { value: 'acme', source: 'default' },
      baseUrl: { value: 'https://acme.example/api/v1', source: 'profile' },
      apiKey: { value: 'key-of-acme', source: 'profile', kind: 'key' },
      timeoutMs: { value: 30_000, source: 'default' },
      storage: { bucket: 'b' },
    });
  });

  it('come from flag, environment, and profile in this order, separately for each setting', () => {
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

  it('need no profile if the environment has both', () => {
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

  const plain = {
    current: 'plain',
    profiles: { plain: { baseUrl: 'http://intra/api/v1/', apiKey: 'k', insecureHttp: true } },
  };

  it.each([
    ['the key of a profile and the address of the environment', { ESIGN_BASE_URL: 'https://env.example/v1' }],
    ['the key of the environment and the address of a profile', { ESIGN_API_KEY: 'k' }],
    ['the same with a profile named in the environment', { ESIGN_API_KEY: 'k', ESIGN_PROFILE: 'other' }],
  ])('never combine %s, unless --base-url is given', (_what, env) => {
    expect(() => requireConnection(resolveSettings({ flags: {}, env, store }))).toThrow(UsageError);
    const flags = { baseUrl: 'https://flag.example/v1' };
    expect(requireConnection(resolveSettings({ flags, env, store })).baseUrl).toBe(flags.baseUrl);
  });

  it('come from the environment alone if it has both, even if a profile is named', () => {
    const env = { ESIGN_BASE_URL: 'https://env.example/v1', ESIGN_API_KEY: 'k', ESIGN_PROFILE: 'acme' };
    const settings = resolveSettings({ flags: {}, env, store });
    expect(requireConnection(settings)).toMatchObject({
      baseUrl: env.ESIGN_BASE_URL,
      apiKey: { value: 'k' },
    });
    expect(settings.storage).toEqual({ bucket: 'b' });
  });

  it('allow plain http for the address of the profile that accepts it, and for no other', () => {
    expect(resolveSettings({ flags: {}, env: {}, store: plain }).baseUrl?.value).toBe('http://intra/api/v1');
    for (const flags of [{ baseUrl: 'http://intra/api/v1' }, { baseUrl: 'http://intra/api/v1/' }])
      expect(resolveSettings({ flags, env: {}, store: plain }).baseUrl?.value).toBe('http://intra/api/v1');
    for (const other of ['http://elsewhere/api/v1', 'http://intra:8080/api/v1', 'http://intra/other'])
      expect(() => resolveSettings({ flags: { baseUrl: other }, env: {}, store: plain })).toThrow(
        'plain http',
      );
  });

  it('take the bucket from the environment without a profile', () => {
    const env = {
      ESIGN_BASE_URL: 'https://env.example/v1',
      ESIGN_API_KEY: 'k',
      ESIGN_BUCKET: 'documents',
      ESIGN_BUCKET_REGION: '',
    };
    expect(resolveSettings({ flags: {}, env, store })).toMatchObject({
      storage: { bucket: 'documents' },
      storageSource: 'environment',
    });
    const named = resolveSettings({ flags: {}, env: { ESIGN_BUCKET: 'documents' }, store });
    expect(named).toMatchObject({ storage: { bucket: 'b' }, storageSource: 'profile' });
    const endpoint = { ...env, ESIGN_BUCKET_ENDPOINT: 'https://u:p@s3.example' };
    expect(() => resolveSettings({ flags: {}, env: endpoint, store })).toThrow('username or password');
  });

  it('use the sandbox profile for sandbox commands by default', () => {
    const at = (flags: { profile?: string }) =>
      resolveSettings({ flags, env: {}, store, fallbackProfile: 'sandbox' }).profileName?.value;
    expect([at({}), at({ profile: 'acme' })]).toEqual(['sandbox', 'acme']);
  });

  it('report missing values with both solutions', () => {
    expect(() => requireConnection(resolveSettings({ flags: {}, env: {}, store: none }))).toThrow(
      NoProfileError,
    );
    expect(() => resolveSettings({ flags: { profile: 'nope' }, env: {}, store })).toThrow(
      'Profile nope not found',
    );
    expect(() => resolveSettings({ flags: { timeout: 'soon' }, env: {}, store })).toThrow('not a duration');
  });
});
