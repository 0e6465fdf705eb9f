import { expect, it } from 'vitest';
import { accountInWords } from '../../src/settings/account-in-words.ts';

const given = <T>(value: T) => ({ value, source: 'profile' as const });
const acme = { profileName: given('acme'), profile: undefined, baseUrl: given('https://api.example.com/v1') };
const local = 'http://127.0.0.1:4010/api/v1';

it('names profile and host, and without a profile the host', () => {
  expect(accountInWords(acme, {})).toBe('acme, api.example.com');
  expect(accountInWords({ ...acme, profileName: undefined }, {})).toBe('api.example.com');
});

it('promises that no real emails are sent only for the address of a sandbox', () => {
  const profile = { baseUrl: local, sandbox: true };
  const sandbox = { profileName: given('sandbox'), profile, baseUrl: given(local) };
  expect(accountInWords(sandbox, {})).toBe('sandbox, no real emails');
  expect(accountInWords({ ...sandbox, baseUrl: acme.baseUrl }, {})).toBe('sandbox, api.example.com');
  const inExec = { profileName: undefined, profile: undefined, baseUrl: given(local) };
  expect(accountInWords(inExec, { ESIGN_SANDBOX_URL: 'http://127.0.0.1:4010' })).toBe(
    'sandbox, no real emails',
  );
  expect(accountInWords(inExec, { ESIGN_SANDBOX_URL: 'http://127.0.0.1:4011' })).toBe('127.0.0.1:4010');
});
