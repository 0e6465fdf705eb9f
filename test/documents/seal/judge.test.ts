import { describe, expect, it } from 'vitest';
import type { Seal } from '../../../src/documents/seal/check-seal.ts';
import { expectsSeals, verifySeal } from '../../../src/documents/seal/judge.ts';

const INTACT: Seal = {
  state: 'intact',
  coverage: 'whole',
  addedBytes: null,
  subject: 'CN=esign',
  issuer: 'CN=esign',
  fingerprint: 'ab'.repeat(32),
  time: null,
  level: 'B-B',
  reason: null,
};
const UNSEALED: Partial<Seal> = { state: 'unsigned', coverage: null, fingerprint: null };

/** The problem with a seal that differs from an intact one in these parts. */
function problemOf(parts: Partial<Seal>, isSigned = true) {
  const checked = { seal: { ...INTACT, ...parts }, signer: null, isSigned };
  return verifySeal(checked, { authorities: [], pinned: [] }, 'required').problem;
}

/** The problem code of a seal that differs from an intact one in these parts. */
function codeOf(parts: Partial<Seal>, rule: 'required' | 'optional' = 'optional', isSigned = true) {
  const checked = { seal: { ...INTACT, ...parts }, signer: null, isSigned };
  return verifySeal(checked, { authorities: [], pinned: [] }, rule).problem?.code;
}

describe('the verdict on a seal', () => {
  it.each<[string, string | undefined, Partial<Seal>]>([
    ['accepts an intact seal over the whole file', undefined, {}],
    ['refuses a seal of a changed file', 'SEAL_CHANGED', { state: 'changed' }],
    ['refuses a seal over a part of the file', 'SEAL_PARTIAL', { coverage: 'partial' }],
    ['refuses content added after the seal', 'SEAL_EXTENDED', { coverage: 'extended', addedBytes: 9 }],
    ['refuses an unreadable signature', 'SEAL_UNREADABLE', { state: 'unreadable', coverage: null }],
  ])('%s', (_, code, parts) => {
    expect([codeOf(parts), codeOf(parts, 'required')]).toEqual([code, code]);
  });

  it('reports a missing seal only if one is required', () => {
    expect(codeOf(UNSEALED, 'optional', false)).toBeUndefined();
    expect(codeOf(UNSEALED, 'required', false)).toBe('SEAL_MISSING');
  });

  it('reports an unreadable PDF without a signature only if a seal is required', () => {
    const unreadable: Partial<Seal> = { ...UNSEALED, state: 'unreadable' };
    expect(codeOf(unreadable, 'optional', false)).toBeUndefined();
    expect(codeOf(unreadable, 'required', false)).toBe('SEAL_UNREADABLE');
  });

  it.each<[string, Partial<Seal>]>([
    ['changed', { state: 'changed' }],
    ['unreadable', { ...UNSEALED, state: 'unreadable' }],
    ['missing', UNSEALED],
  ])('reports the reason why a seal is %s', (_, parts) => {
    expect(problemOf({ ...parts, reason: 'the reason' })?.message).toBe('the reason');
    expect(problemOf({ ...parts, reason: null })?.message).toBeTruthy();
  });

  it('reports the size of what was added', () => {
    expect(problemOf({ coverage: 'extended', addedBytes: 123 })?.message).toContain('123 bytes');
  });
});

it.each([
  ['no signer is known', {}, false],
  ['a signer is pinned', { pinned: ['ab'] }, true],
  ['a signer is required', { sealedBy: ['ab'] }, true],
  ['no signer is required', { sealedBy: [] }, false],
])('seals are expected or not if %s', (_, known, expected) => {
  expect(expectsSeals({ authorities: [], pinned: [], ...known })).toBe(expected);
});
