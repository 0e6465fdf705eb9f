import { describe, expect, it } from 'vitest';
import type { Envelope, Signer } from '../../src/api/resource-types.ts';
import { turnsOf } from '../../src/catalog/turns.ts';

const SENT = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;
const at = (hours: number) => new Date(SENT + hours * HOUR).toISOString();

const signed = (name: string, order: number, hours: number): Signer => ({
  name,
  order,
  status: 'SIGNED',
  signedAt: at(hours),
});
const waiting = (name: string, order: number): Signer => ({ name, order, status: 'SENT', signedAt: null });

function turns(signingOrder: string, signers: Signer[], more: Partial<Envelope> = {}) {
  const envelope = { status: 'IN_PROGRESS', sentAt: at(0), signingOrder, signers, ...more };
  return turnsOf(envelope).map((turn) => [
    turn.signer.name,
    turn.state,
    (turn.beganAt - SENT) / HOUR,
    'endedAt' in turn ? (turn.endedAt - SENT) / HOUR : null,
  ]);
}

describe('turns', () => {
  it('all begin when a parallel envelope is sent', () => {
    expect(turns('PARALLEL', [signed('Ada', 1, 5), waiting('Bo', 2)])).toEqual([
      ['Ada', 'signed', 0, 5],
      ['Bo', 'open', 0, null],
    ]);
  });

  it('can be any number', () => {
    const signers = Array.from({ length: 150_000 }, (_, n) => waiting(`Signer ${n}`, 1));
    expect(turns('SEQUENTIAL', signers)).toHaveLength(signers.length);
  });

  it('begin in order with the last signature of the previous order', () => {
    const signers = [waiting('Dee', 3), signed('Ada', 1, 5), signed('Bo', 1, 9), waiting('Cy', 2)];
    expect(turns('SEQUENTIAL', signers)).toEqual([
      ['Ada', 'signed', 0, 5],
      ['Bo', 'signed', 0, 9],
      ['Cy', 'open', 9, null],
    ]);
  });

  it('keep the next order waiting until every signer of the same order has signed', () => {
    expect(turns('SEQUENTIAL', [signed('Ada', 1, 5), waiting('Bo', 1), waiting('Cy', 2)])).toEqual([
      ['Ada', 'signed', 0, 5],
      ['Bo', 'open', 0, null],
    ]);
  });

  it('end with a decline, which drops the others', () => {
    const declined = { name: 'Ada', order: 1, status: 'DECLINED', declinedAt: at(3) };
    expect(turns('PARALLEL', [declined, waiting('Bo', 1)], { status: 'DECLINED' })).toEqual([
      ['Ada', 'declined', 0, 3],
      ['Bo', 'dropped', 0, null],
    ]);
  });

  it.each([
    ['an envelope that was not sent', { sentAt: null }, []],
    ['a signature without a time', { signers: [{ status: 'SIGNED' }, waiting('Bo', 2)] }, []],
    ['an envelope without signers', { signers: undefined }, []],
  ])('omit %s', (_, more, expected) => {
    expect(turns('SEQUENTIAL', [waiting('Ada', 1)], more)).toEqual(expected);
  });
});
