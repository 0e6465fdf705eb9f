import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/api/schemas.ts';
import { namedIn, summarize } from '../../src/statistics/summary.ts';
import { clientFor } from '../support/client.ts';

const NOW = Date.UTC(2026, 2, 1);
const DAY = 86_400_000;
const ago = (days: number) => new Date(NOW - days * DAY).toISOString();

/** A client that lists these and returns them in full. */
function listing(items: Envelope[], whole: Envelope[] = items) {
  const client = clientFor('http://127.0.0.1:1');
  const gets: string[] = [];
  async function* list() {
    yield* items;
    await Promise.resolve();
  }
  const get = (id: string) => {
    gets.push(id);
    return Promise.resolve(whole.find((one) => one.id === id) ?? { id });
  };
  return { client: { ...client, envelopes: { ...client.envelopes, list, get } }, gets };
}

const summaryOf = (items: Envelope[], whole?: Envelope[]) => {
  const { client } = listing(items, whole);
  return summarize(client, client.envelopes.list(), { now: () => NOW, soonMs: 3 * DAY, maxListed: 2 });
};

describe('the summary of envelopes', () => {
  it('counts by status and names the longest waiting and the soonest expiring', async () => {
    const sent = (id: string, days: number, left: number): Envelope => ({
      id,
      status: 'SENT',
      sentAt: ago(days),
      expiresAt: ago(-left),
      signers: [
        { name: 'Ada', status: 'SENT' },
        { name: 'Bo', status: 'SIGNED' },
      ],
    });
    const summary = await summaryOf([
      sent('a', 1, 20),
      sent('b', 9, 2),
      sent('c', 5, 25),
      { id: 'd', status: 'DRAFT' },
      { id: 'e', status: 'ON_HOLD' },
    ]);
    expect(summary).toMatchObject({ total: 5, byStatus: { SENT: 3, DRAFT: 1, ON_HOLD: 1 } });
    expect(summary.waitingLongest.map(({ id }) => id)).toEqual(['b', 'c']);
    expect(summary.expiringSoon).toMatchObject([{ id: 'b', waitingFor: ['Ada'] }]);
    expect(summary.completion).toEqual({ count: 0, medianMs: null, p90Ms: null });
    expect(summary.stuck).toEqual([]);
    expect(namedIn(summary)).toEqual(['b', 'c']);
  });

  it('names the subject and the signers that an envelope is waiting for, and nothing that is not known', async () => {
    const signers = [
      { email: 'ada@b.example' },
      {},
      { name: 'Bo', email: 'bo@b.example' },
      { name: 'Cy', status: 'DECLINED' },
    ];
    const { waitingLongest } = await summaryOf([
      { id: 'a', status: 'SENT', createdAt: ago(2), subject: 'Lease', signers },
      { id: 'b', status: 'SENT', sentAt: ago(1) },
      { id: 'no time', status: 'SENT' },
    ]);
    expect(waitingLongest).toEqual([
      { id: 'a', subject: 'Lease', waitingFor: ['ada@b.example', 'Bo'], at: ago(2) },
      { id: 'b', subject: null, waitingFor: [], at: ago(1) },
    ]);
  });

  it('counts and names envelopes that need attention', async () => {
    const signer = (status: string, declinedAt?: string) => ({ name: status, status, declinedAt });
    const summary = await summaryOf([
      { id: 'declined', status: 'DECLINED', signers: [signer('SIGNED'), signer('DECLINED', ago(2))] },
      { id: 'latest', status: 'DECLINED', signers: [signer('DECLINED', ago(1))] },
      { id: 'third', status: 'DECLINED', sentAt: ago(30) },
      { id: 'done', status: 'COMPLETED', createdAt: ago(20) },
      { id: 'long-ago', status: 'DECLINED', signers: [signer('DECLINED', ago(31))] },
      // The replacement is listed first: it is newer.
      { id: 'new', status: 'SENT', sentAt: ago(1), metadata: { replaces: 'old' }, signers: [signer('SENT')] },
      { id: 'old', status: 'DECLINED', signers: [signer('DECLINED', ago(1))] },
      { id: 'unopened', status: 'SENT', sentAt: ago(3), signers: [signer('SENT')] },
      { id: 'opened', status: 'SENT', sentAt: ago(9), signers: [signer('SENT'), signer('VIEWED')] },
      { id: 'recent', status: 'SENT', sentAt: ago(2), expiresAt: ago(-3), signers: [signer('SENT')] },
      { id: 'unknown', status: 'SENT', sentAt: ago(9) },
      { id: 'draft', status: 'DRAFT', createdAt: ago(7) },
      { id: 'new-draft', status: 'DRAFT', createdAt: ago(6) },
    ]);
    const found = Object.entries(summary.needsAttention).map(([kind, { count, envelopes }]) => [
      kind,
      count,
      envelopes.map(({ id }) => id),
    ]);
    expect(found).toEqual([
      ['declined', 3, ['latest', 'declined']],
      ['expiringSoon', 1, ['recent']],
      ['neverOpened', 1, ['unopened']],
      ['forgottenDrafts', 1, ['draft']],
    ]);
    expect(summary.needsAttention.declined.envelopes[1]?.waitingFor).toEqual(['DECLINED']);
  });

  it.each<[string, boolean, string, [order: number, status: string][]]>([
    [
      'the next signer was not asked',
      true,
      'SEQUENTIAL',
      [
        [1, 'SIGNED'],
        [2, 'PENDING'],
        [3, 'SENT'],
      ],
    ],
    [
      'the next signer was asked',
      false,
      'SEQUENTIAL',
      [
        [3, 'PENDING'],
        [2, 'SENT'],
        [1, 'SIGNED'],
      ],
    ],
    [
      'one of the next signers was asked',
      false,
      'SEQUENTIAL',
      [
        [1, 'PENDING'],
        [1, 'VIEWED'],
      ],
    ],
    ['everyone has signed', false, 'SEQUENTIAL', [[1, 'SIGNED']]],
    ['signers sign in any order', false, 'PARALLEL', [[1, 'PENDING']]],
  ])('if %s, an envelope is stuck: %s', async (_, isStuck, signingOrder, people) => {
    const signers = people.map(([order, status]) => ({ order, status }));
    const { client, gets } = listing([{ id: 'a', status: 'SENT', sentAt: ago(1), signingOrder, signers }]);
    const { stuck } = await summarize(client, client.envelopes.list(), { now: () => NOW, maxListed: 2 });
    expect([stuck.length === 1, gets]).toEqual([isStuck, []]);
  });

  it('finds sequential envelopes whose next signer was never asked, and requests signers only for those', async () => {
    const base = { status: 'IN_PROGRESS', signingOrder: 'SEQUENTIAL', sentAt: ago(3) };
    const whole = [
      {
        ...base,
        id: 'ok',
        signers: [
          { order: 1, status: 'SIGNED' },
          { order: 2, status: 'SENT' },
        ],
      },
      {
        ...base,
        id: 'stuck',
        signers: [
          { order: 1, status: 'SIGNED' },
          { order: 2, status: 'PENDING' },
          { order: 3, status: 'PENDING' },
        ],
      },
      { id: 'parallel', status: 'SENT', signingOrder: 'PARALLEL', sentAt: ago(1) },
    ];
    const items = whole.map(({ id, status, signingOrder, sentAt }) => ({ id, status, signingOrder, sentAt }));
    const { client, gets } = listing(items, whole);
    const summary = await summarize(client, client.envelopes.list(), {
      now: () => NOW,
      soonMs: DAY,
      maxListed: 5,
    });
    expect(summary.stuck.map(({ id }) => id)).toEqual(['stuck']);
    expect(gets).toEqual(['ok', 'stuck']);
  });

  it('includes the time to completion', async () => {
    const done = Array.from(
      { length: 10 },
      (_, i): Envelope => ({
        id: `e${i}`,
        status: 'COMPLETED',
        sentAt: ago(20),
        completedAt: new Date(NOW - 20 * DAY + (i + 1) * 1_000).toISOString(),
      }),
    ).toReversed();
    expect((await summaryOf(done)).completion).toEqual({ count: 10, medianMs: 5_500, p90Ms: 9_100 });
  });
});
