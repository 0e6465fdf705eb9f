import { expect, it } from 'vitest';
import type { Envelope } from '../../../src/api/schemas.ts';
import type { JudgedSeal } from '../../../src/documents/seal/judge.ts';
import { accountOf, type DocumentFacts, findingOn } from '../../../src/envelopes/evidence/findings.ts';

const COMPLETED_AT = '2026-03-01T10:00:00.000Z';
const envelope: Envelope = { id: 'env_1', status: 'COMPLETED', completedAt: COMPLETED_AT };

const seal = (more: Partial<JudgedSeal> = {}): JudgedSeal => ({
  state: 'intact',
  coverage: 'whole',
  addedBytes: null,
  subject: 'CN=x',
  issuer: 'CN=x',
  fingerprint: 'ab'.repeat(32),
  time: COMPLETED_AT,
  sealedBytes: 100,
  others: [],
  reason: null,
  trust: 'pinned',
  ...more,
});

const document = (what: string, more: Partial<DocumentFacts> = {}): DocumentFacts => ({
  what,
  key: `esign/envelopes/org_1/env_1/${what}.pdf`,
  sha256: what,
  seal: seal(),
  ...more,
});

const codeOf = (one: DocumentFacts, others: readonly DocumentFacts[] = []) =>
  findingOn(one, envelope, [one, ...others])?.code;

it('finds no problem in a document with a known seal from the time of completion', () => {
  for (const what of ['signed', 'certificate']) expect(codeOf(document(what))).toBeUndefined();
  expect(codeOf(document('document', { seal: seal({ state: 'unsigned' }) }))).toBeUndefined();
  expect(
    codeOf(document('signed', { seal: seal({ time: '2026-03-01T10:59:59.000Z', trust: 'trusted' }) })),
  ).toBeUndefined();
  expect(codeOf(document('signed', { seal: seal({ time: '2026-03-01T11:00:00.000Z' }) }))).toBeUndefined();
  expect(codeOf(document('signed', { seal: seal({ time: null }) }))).toBeUndefined();
  const open = { ...envelope, completedAt: null };
  expect(findingOn(document('signed', { seal: seal({ time: '2026-03-09T10:00:00.000Z' }) }), open, [])).toBe(
    null,
  );
});

it.each<[string, Partial<DocumentFacts>, string]>([
  ['without a seal', { seal: seal({ state: 'unsigned' }) }, 'SEAL_MISSING'],
  ['that is not a PDF', { seal: null }, 'SEAL_MISSING'],
  ['sealed over an hour later', { seal: seal({ time: '2026-03-01T11:00:01.000Z' }) }, 'SEAL_TIME'],
  ['sealed over an hour earlier', { seal: seal({ time: '2026-03-01T08:59:59.000Z' }) }, 'SEAL_TIME'],
  ['by an unknown sealer', { seal: seal({ trust: 'unknown' }) }, 'SEAL_UNKNOWN'],
  ['of another envelope', { key: 'esign/envelopes/org_1/env_2/signed.pdf' }, 'WRONG_DOCUMENT'],
])('finds a problem in a signed document %s', (_, more, code) => {
  expect(codeOf(document('signed', more))).toBe(code);
});

it('finds a problem if two files are the same', () => {
  const same = document('document', { sha256: 'same' });
  expect(codeOf(document('signed', { sha256: 'same' }), [same])).toBe('WRONG_DOCUMENT');
  expect(codeOf(document('signed'), [same])).toBeUndefined();
  expect(
    codeOf(document('signed', { sha256: null }), [document('document', { sha256: null })]),
  ).toBeUndefined();
  expect(codeOf(document('signed', { what: null, sha256: 'same' }), [same])).toBeUndefined();
});

it('reads the account from storage keys in the documented form', () => {
  expect(accountOf([{ key: 'elsewhere/signed.pdf' }, document('signed')])).toBe('org_1');
  expect(accountOf([{ key: null }])).toBe(null);
});
