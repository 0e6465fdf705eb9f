import { describe, expect, it } from 'vitest';
import type { Envelope, Signer } from '../../src/api/resource-types.ts';
import { findLate } from '../../src/reports/late-turns.ts';

const NOW = Date.UTC(2026, 5, 1);
const DAY = 86_400_000;
const ago = (days: number) => new Date(NOW - days * DAY).toISOString();

/** Twenty envelopes of a template that were signed after a number of days. They aren't selected. */
const finished = (templateId: string, days: number): Envelope[] =>
  Array.from({ length: 20 }, (_, index) => ({
    id: `done_${templateId}_${index}`,
    templateId,
    status: 'COMPLETED',
    sentAt: ago(30),
    signers: [{ role: 'Buyer', signedAt: ago(30 - days) }],
  }));

/** An envelope that was sent a number of days ago. */
const open = (id: string, templateId: string, days: number, signers?: Signer[]): Envelope => ({
  id,
  templateId,
  status: 'SENT',
  sentAt: ago(days),
  signers: signers ?? [{ email: 'ada@b.example', role: 'Buyer' }],
});

async function late(selected: Envelope[], afterMs?: number) {
  const history = [...finished('quick', 2), ...finished('slow', 8)];
  return findLate(
    { envelopes: [...history, ...selected], isSelected: ({ id }) => !/^(done|other)/.test(id) },
    { now: NOW, afterMs },
  );
}

describe('late turns', () => {
  it('are those that take longer than usual, the longest first', async () => {
    const found = await late([
      open('on time', 'quick', 2),
      open('ratio 1.5', 'quick', 3),
      open('ratio 2.5', 'slow', 20),
      open('ratio 5', 'quick', 10),
      open('ratio 2.5, shorter', 'quick', 5),
      open('other', 'quick', 30),
    ]);
    expect(
      found.map(({ envelope, waitingMs, usual }) => [envelope.id, waitingMs, usual.percentileMs]),
    ).toEqual([
      ['ratio 2.5', 20 * DAY, 8 * DAY],
      ['ratio 5', 10 * DAY, 2 * DAY],
      ['ratio 2.5, shorter', 5 * DAY, 2 * DAY],
      ['ratio 1.5', 3 * DAY, 2 * DAY],
    ]);
    expect(found[0]?.usual).toMatchObject({ basis: 'template', samples: 20 });
  });

  it('are measured against a fixed time if one is given', async () => {
    const found = await late([open('day', 'quick', 1), open('week', 'slow', 7)], 2 * DAY);
    expect(found.map(({ envelope, usual }) => [envelope.id, usual])).toEqual([
      ['week', { percentileMs: 2 * DAY, basis: 'fixed', samples: 0 }],
    ]);
  });

  it('are those of the signers whose turn it is', async () => {
    const signers: Signer[] = [
      { email: 'first', order: 1, signedAt: ago(15) },
      { email: 'second', order: 2 },
      { email: 'too', order: 2 },
      { email: 'third', order: 3 },
    ];
    const found = await late([{ ...open('a', 'quick', 20, signers), signingOrder: 'SEQUENTIAL' }]);
    expect(found.map(({ turn, waitingMs }) => [turn.signer.email, waitingMs])).toEqual([
      ['second', 15 * DAY],
      ['too', 15 * DAY],
    ]);
  });
});
