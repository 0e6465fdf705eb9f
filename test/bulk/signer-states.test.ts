import { describe, expect, it } from 'vitest';
import type { Envelope, Signer } from '../../src/api/resource-types.ts';
import { rowStateOf, signerStatesOf } from '../../src/bulk/status/signer-states.ts';

const SENT = '2026-03-01T10:00:00.000Z';
const SIGNED = '2026-03-02T10:00:00.000Z';
const LATER = '2026-03-03T10:00:00.000Z';

const signed = (order: number, signedAt = SIGNED): Signer => ({ order, status: 'SIGNED', signedAt });
const asked = (order: number): Signer => ({ order, status: 'SENT' });
const pending = (order: number): Signer => ({ order, status: 'PENDING' });

const states = (envelope: Partial<Envelope>, isReplaced?: boolean) =>
  signerStatesOf({ id: 'env_1', sentAt: SENT, ...envelope }, isReplaced).map(({ state }) => state);

describe('the states of signers', () => {
  it.each<[string, Partial<Envelope>, string[]]>([
    ['a draft', { status: 'DRAFT', signers: [pending(1), pending(2)] }, ['draft', 'draft']],
    ['parallel signers', { status: 'SENT', signers: [asked(1), asked(2)] }, ['waiting', 'waiting']],
    [
      'the next signer in order',
      { status: 'IN_PROGRESS', signingOrder: 'SEQUENTIAL', signers: [signed(1), asked(2), pending(3)] },
      ['signed', 'waiting', 'later'],
    ],
    [
      'a signature with an undocumented status',
      {
        status: 'IN_PROGRESS',
        signingOrder: 'SEQUENTIAL',
        signers: [{ order: 1, status: 'DONE', signedAt: SIGNED }, asked(2)],
      },
      ['signed', 'waiting'],
    ],
    [
      'signers of the same order',
      { status: 'SENT', signingOrder: 'SEQUENTIAL', signers: [asked(1), asked(1), pending(2)] },
      ['waiting', 'waiting', 'later'],
    ],
    ['a completed envelope', { status: 'COMPLETED', signers: [{ name: 'Ada' }] }, ['signed']],
    [
      'a decline',
      { status: 'DECLINED', signers: [signed(1), { status: 'DECLINED' }, pending(3)] },
      ['signed', 'declined', 'waiting'],
    ],
    ['an expiry', { status: 'EXPIRED', signers: [signed(1), asked(2)] }, ['signed', 'expired']],
    ['a cancellation', { status: 'CANCELLED', signers: [signed(1), asked(2)] }, ['signed', 'cancelled']],
    ['an unknown status', { status: 'ON_HOLD', signers: [asked(1)] }, ['waiting']],
    ['an envelope without signers', { status: 'SENT' }, []],
  ])('are derived for %s', (_, envelope, expected) => {
    expect(states(envelope)).toEqual(expected);
  });

  it('are `replaced` for a replaced envelope, except for signers who had signed it', () => {
    const envelope = { status: 'CANCELLED', signers: [signed(1), asked(2)] };
    expect(states(envelope, true)).toEqual(['signed', 'replaced']);
    expect(states({ ...envelope, status: 'EXPIRED' }, true)).toEqual(['signed', 'replaced']);
  });

  it('show since when a signer has been waiting', () => {
    const since = (envelope: Partial<Envelope>) =>
      signerStatesOf({ id: 'env_1', sentAt: SENT, status: 'IN_PROGRESS', ...envelope }).map(
        ({ waitingSince }) => waitingSince,
      );
    const signers = [signed(1, LATER), signed(1), asked(2), pending(3)];
    expect(since({ signingOrder: 'SEQUENTIAL', signers })).toEqual([null, null, LATER, null]);
    expect(since({ signingOrder: 'PARALLEL', signers })).toEqual([null, null, SENT, SENT]);
    expect(since({ signers: [asked(1)], sentAt: null })).toEqual([null]);
  });
});

describe('the state of a row', () => {
  it('is the first of its signers’ states, in a fixed order', () => {
    expect(rowStateOf(['signed', 'later', 'waiting'])).toBe('waiting');
    expect(rowStateOf(['waiting', 'replaced', 'signed'])).toBe('replaced');
    expect(rowStateOf(['expired', 'declined', 'draft'])).toBe('draft');
    expect(rowStateOf(['signed', 'signed'])).toBe('signed');
    expect(rowStateOf([])).toBeUndefined();
  });
});
