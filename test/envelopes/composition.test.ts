import { describe, expect, it } from 'vitest';
import { type Composition, composed, PARTS, stepsFor } from '../../src/envelopes/composition.ts';

const all = new Set(PARTS);
const ada = { email: 'ada@example.com', name: 'Ada' };
const bo = { email: 'bo@example.com', name: 'Bo' };
const start: Composition = { roles: [], signers: [] };

const names = (composition: Composition, more = false) =>
  stepsFor(composition, all, more).map((step) =>
    step.part === 'signers' ? `${step.role ?? 'signer'}${step.optional ? '?' : ''}` : step.part,
  );

describe('the questions for a new envelope', () => {
  it('are one signer a role where roles are known', () => {
    expect(names({ ...start, roles: ['Tenant', 'Landlord'] })).toEqual([
      'template',
      'Tenant',
      'Landlord',
      'subject',
      'message',
    ]);
  });

  it('are signers until there is nobody else where they are not', () => {
    expect(names(start)).toEqual(['template', 'signer', 'subject', 'message']);
    expect(names({ ...start, signers: [ada] })).toEqual([
      'template',
      'signer',
      'signer?',
      'subject',
      'message',
    ]);
  });

  it('include the order once there are two signers', () => {
    expect(names({ ...start, signers: [ada, bo] })).toContain('order');
    expect(names({ ...start, signers: [ada] })).not.toContain('order');
  });

  it('include a further signer beyond the roles when signers are changed', () => {
    expect(names({ ...start, roles: ['Tenant'], signers: [ada] }, true)).toContain('signer?');
  });

  it('end at twenty signers', () => {
    const signers = Array.from({ length: 20 }, () => ada);
    expect(names({ ...start, signers }).filter((name) => name.startsWith('signer'))).toHaveLength(20);
  });
});

describe('what was asked for', () => {
  it('numbers signers who sign one after the other', () => {
    expect(composed({ ...start, signers: [ada, bo], order: 'SEQUENTIAL' })).toMatchObject({
      signingOrder: 'SEQUENTIAL',
      signers: [{ order: 1 }, { order: 2 }],
    });
  });

  it('leaves out what was left empty, and an order that one signer has no use for', () => {
    expect(composed({ ...start, signers: [ada], order: 'SEQUENTIAL', subject: '', message: '' })).toEqual({
      signers: [ada],
      subject: undefined,
      message: undefined,
      signingOrder: undefined,
    });
  });
});
