import { describe, expect, it } from 'vitest';
import { type Composition, composed, PARTS, setOrder, stepsFor } from '../../src/envelopes/composition.ts';

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

  it('keeps each signer in place when they sign in another order, and lets who is added sign last', () => {
    const composition = { ...start, signers: [ada, bo] };
    setOrder(composition, [bo, ada]);
    composition.signers.push({ email: 'cy@example.com', name: 'Cy' });
    expect(composed(composition).signers.map(({ name, order }) => [name, order])).toEqual([
      ['Ada', 2],
      ['Bo', 1],
      ['Cy', 3],
    ]);
    setOrder(composition, undefined);
    expect(composed(composition)).toMatchObject({ signingOrder: 'PARALLEL', signers: [ada, bo, {}] });
  });

  it('keeps numbers that were given', () => {
    const signers = [
      { ...ada, order: 1 },
      { ...bo, order: 1 },
    ];
    expect(composed({ ...start, signers, order: 'SEQUENTIAL' }).signers).toEqual(signers);
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
