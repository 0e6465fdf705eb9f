import { describe, expect, it } from 'vitest';
import { type Composition, composed, setOrder } from '../../src/envelopes/composition.ts';

const ada = { email: 'ada@example.com', name: 'Ada' };
const bo = { email: 'bo@example.com', name: 'Bo' };
const start: Composition = { roles: [], signers: [] };

describe('a composition', () => {
  it('numbers signers who sign in sequence', () => {
    expect(composed({ ...start, signers: [ada, bo], order: 'SEQUENTIAL' })).toMatchObject({
      signingOrder: 'SEQUENTIAL',
      signers: [{ order: 1 }, { order: 2 }],
    });
  });

  it("keeps each signer's position when they sign in another order, and lets added signers sign last", () => {
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

  it('keeps given numbers', () => {
    const signers = [
      { ...ada, order: 1 },
      { ...bo, order: 1 },
    ];
    expect(composed({ ...start, signers, order: 'SEQUENTIAL' }).signers).toEqual(signers);
  });

  it('omits empty values, and the order of a single signer', () => {
    expect(composed({ ...start, signers: [ada], order: 'SEQUENTIAL', subject: '', message: '' })).toEqual({
      signers: [ada],
      subject: undefined,
      message: undefined,
      signingOrder: undefined,
    });
  });
});
