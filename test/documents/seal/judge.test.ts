import { describe, expect, it } from 'vitest';
import { verifySeal } from '../../../src/documents/seal/judge.ts';
import type { Seal } from '../../../src/documents/seal/seal.ts';

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
    expect(codeOf(parts)).toBe(code);
  });

  it('reports a missing seal only if one is required', () => {
    expect(codeOf(UNSEALED, 'optional', false)).toBeUndefined();
    expect(codeOf(UNSEALED, 'required', false)).toBe('SEAL_MISSING');
  });
});
