import { expect, it } from 'vitest';
import type { Envelope } from '../../../src/api/resource-types.ts';
import type { SealWithTrust } from '../../../src/documents/seal/judge.ts';
import { findSealProblem } from '../../../src/envelopes/evidence/findings.ts';

const COMPLETED_AT = '2026-03-01T10:00:00.000Z';
const envelope: Envelope = { id: 'env_1', status: 'COMPLETED', completedAt: COMPLETED_AT };

const seal = (more: Partial<SealWithTrust> = {}): SealWithTrust => ({
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

const codeOf = (what: string, judged: SealWithTrust | null) => {
  const document = { what, seal: judged };
  return findSealProblem(document, [document], envelope)?.code;
};

it('finds no problem in a document with a known seal from the time of completion', () => {
  for (const what of ['signed', 'certificate']) expect(codeOf(what, seal())).toBeUndefined();
  expect(codeOf('document', seal({ state: 'unsigned' }))).toBeUndefined();
  for (const more of [
    { time: '2026-03-01T10:59:59.000Z', trust: 'trusted' },
    { time: '2026-03-01T11:00:00.000Z' },
    { time: null },
  ] as const)
    expect(codeOf('signed', seal(more))).toBeUndefined();
  const open = { ...envelope, completedAt: null };
  expect(
    findSealProblem({ what: 'signed', seal: seal({ time: '2026-03-09T10:00:00.000Z' }) }, [], open),
  ).toBe(null);
});

it.each<[string, SealWithTrust | null, string]>([
  ['without a seal', seal({ state: 'unsigned' }), 'SEAL_MISSING'],
  ['that is not a PDF', null, 'SEAL_MISSING'],
  ['sealed over an hour later', seal({ time: '2026-03-01T11:00:01.000Z' }), 'SEAL_TIME'],
  ['sealed over an hour earlier', seal({ time: '2026-03-01T08:59:59.000Z' }), 'SEAL_TIME'],
  ['by an unknown sealer', seal({ trust: 'unknown' }), 'SEAL_UNKNOWN'],
])('finds a problem in a signed document %s', (_, judged, code) => {
  expect(codeOf('signed', judged)).toBe(code);
});

it('accepts an unknown sealer if both documents have the same one, as without a profile', () => {
  const sealed = (what: string, more: Partial<SealWithTrust> = {}) => ({
    what,
    seal: seal({ trust: 'unknown', ...more }),
  });
  const codes = (...documents: ReturnType<typeof sealed>[]) =>
    documents.map((one) => findSealProblem(one, documents, envelope)?.code);
  expect(codes(sealed('signed'), sealed('certificate'))).toEqual([undefined, undefined]);
  expect(codes(sealed('signed'), sealed('certificate', { fingerprint: 'cd'.repeat(32) }))).toEqual([
    'SEAL_UNKNOWN',
    'SEAL_UNKNOWN',
  ]);
  expect(codes(sealed('signed'), sealed('document'))).toEqual(['SEAL_UNKNOWN', undefined]);
});
