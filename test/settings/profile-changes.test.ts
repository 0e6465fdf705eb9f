import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/kernel/errors.ts';
import { applyChanges, checkName } from '../../src/settings/profile-changes.ts';
import { resolveSettings } from '../../src/settings/resolve.ts';
import { newWebhookSecret } from '../../src/settings/webhook-secrets.ts';

const profile = { baseUrl: 'https://api.example.com/api/v1', apiKey: 'sk_live_0123456789' };

describe('a webhook secret', () => {
  it('has 256 random bits', () => {
    const made = Array.from({ length: 100 }, newWebhookSecret);
    for (const secret of made) expect(secret).toMatch(/^whsec_[\w-]{43}$/);
    expect(new Set(made).size).toBe(100);
  });
});

describe('changes to a profile', () => {
  it.each(['', 'a b', '../x', '__proto__', '-x', 'x'.repeat(65)])('refuse the name %j', (name) => {
    expect(() => checkName(name)).toThrow(UsageError);
  });

  it.each([
    ['arn:aws:s3:::signed', 'Use only its name: signed.'],
    ['arn:aws-cn:s3:::signed', 'Use only its name: signed.'],
    ['s3://signed', 'Use only its name: signed.'],
    ['s3://signed/contracts', 'Use only its name: signed.'],
    ['https://signed.s3.eu-west-1.amazonaws.com', 'Use only its name; the address is the endpoint.'],
  ])('refuse %s instead of the name of a bucket', (bucket, hint) => {
    expect(() => applyChanges(undefined, { ...profile, bucket })).toThrow(expect.objectContaining({ hint }));
  });

  it.each([
    'Europe (Ireland)',
    'EU (Frankfurt) eu-central-1',
    'eu-west-1, us-east-1',
    'eu/west',
    'eu west 1',
  ])('refuse the region %s', (region) => {
    expect(() => applyChanges(undefined, { ...profile, region })).toThrow(UsageError);
  });

  it.each(['eu-west-1', 'auto', 'RegionOne', 'us-gov-east-1', 'garage_1'])(
    'accept the region %s',
    (region) => {
      expect(applyChanges(undefined, { ...profile, region })).toMatchObject({ storage: { region } });
    },
  );

  it('accept the ARN of an access point', () => {
    const bucket = 'arn:aws:s3:eu-west-1:111122223333:accesspoint/signed';
    expect(applyChanges(undefined, { ...profile, bucket })).toMatchObject({ storage: { bucket } });
  });

  it('keep fields that are not named, and remove emptied ones', () => {
    const before = applyChanges(undefined, {
      ...profile,
      bucket: 'b',
      endpoint: 'http://127.0.0.1:1',
      region: 'eu',
    });
    const after = applyChanges(before, { endpoint: '', region: 'us' });
    expect(after).toEqual({ ...profile, storage: { bucket: 'b', region: 'us' } });
  });

  it('replace a key with a command, and never keep both', () => {
    const after = applyChanges(applyChanges(undefined, profile), { apiKeyCommand: 'op read x' });
    expect(after).toEqual({ baseUrl: profile.baseUrl, apiKeyCommand: 'op read x' });
  });

  it.each(['https://user:PASSWORD@s3.example', 'https://user@s3.example', 's3.example', 'https://['])(
    'refuse the endpoint %s',
    (endpoint) => {
      const change = () => applyChanges(undefined, { ...profile, endpoint });
      expect(change).toThrow(UsageError);
      expect(change).not.toThrow('PASSWORD');
    },
  );

  it("need consent again for plain http if the profile's base URL changes", () => {
    const before = applyChanges(undefined, { ...profile, baseUrl: 'http://intra/v1', insecureHttp: true });
    expect(applyChanges(before, { region: 'eu' }).insecureHttp).toBe(true);
    expect(applyChanges(before, { baseUrl: 'https://intra/v1' })).not.toHaveProperty('insecureHttp');
    expect(() => applyChanges(before, { baseUrl: 'http://other/v1' })).toThrow('plain http');
  });

  it('allow plain http for the address of the profile that accepts it, and for no other', () => {
    const intra = { baseUrl: 'http://intra/api/v1/', apiKey: 'k', insecureHttp: true };
    const store = { current: 'intra', profiles: { intra } };
    const at = (baseUrl?: string) => resolveSettings({ flags: { baseUrl }, env: {}, store }).baseUrl?.value;
    for (const same of [undefined, 'http://intra/api/v1', 'http://intra/api/v1/'])
      expect(at(same)).toBe('http://intra/api/v1');
    for (const other of ['http://elsewhere/api/v1', 'http://intra:8080/api/v1', 'http://intra/other'])
      expect(() => at(other)).toThrow('plain http');
  });
});
