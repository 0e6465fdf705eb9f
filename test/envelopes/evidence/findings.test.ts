import { expect, it } from 'vitest';
import type { JudgedSeal } from '../../../src/documents/seal/judge.ts';
import { accountOf, findingOn } from '../../../src/envelopes/evidence/findings.ts';

const seal = (more: Partial<JudgedSeal> = {}): JudgedSeal => ({
  state: 'intact',
  coverage: 'whole',
  addedBytes: null,
  subject: 'CN=x',
  issuer: 'CN=x',
  fingerprint: 'ab'.repeat(32),
  time: null,
  sealedBytes: 100,
  others: [],
  reason: null,
  trust: 'pinned',
  ...more,
});

it('finds no problem in a document with a known seal, or in the original', () => {
  for (const what of ['signed', 'certificate']) expect(findingOn({ what, seal: seal() })).toBe(null);
  expect(findingOn({ what: 'signed', seal: seal({ trust: 'trusted' }) })).toBe(null);
  expect(findingOn({ what: 'document', seal: seal({ state: 'unsigned' }) })).toBe(null);
});

it.each([
  ['without a seal', seal({ state: 'unsigned' }), 'SEAL_MISSING'],
  ['that is not a PDF', null, 'SEAL_MISSING'],
  ['by an unknown sealer', seal({ trust: 'unknown' }), 'SEAL_UNKNOWN'],
])('finds a problem in a signed document %s', (_, judged, code) => {
  expect(findingOn({ what: 'signed', seal: judged })?.code).toBe(code);
});

it('reads the account from storage keys in the documented form', () => {
  const keys = ['elsewhere/signed.pdf', 'esign/envelopes/org_1/env_1/signed.pdf'];
  expect(accountOf(keys.map((key) => ({ key })))).toBe('org_1');
  expect(accountOf([{ key: null }])).toBe(null);
});
