import { describe, expect, it } from 'vitest';
import type { Envelope, Signer } from '../../src/api/resource-types.ts';
import type { GroupBy } from '../../src/reports/groups.ts';
import { computeReport } from '../../src/reports/summarize.ts';

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 1, 10);

/*
 * Envelope, template, status, when it was sent, its order (sequential or parallel), and the actions of each signer: signed
 * (+) or declined (-) a number of hours after the envelope was sent, or nothing (0). The expected figures were computed
 * from this table by a program in another language, with its own percentiles and calendar.
 */
const TABLE = `
e1 A COMPLETED 2026-01-05T09:00 S Buyer:+5 Seller:+29
e2 A COMPLETED 2026-01-11T23:30 S Buyer:+10 Seller:+12
e3 B COMPLETED 2026-01-12T00:10 P Buyer:+100 Seller:+40
e4 A DECLINED 2026-01-20T12:00 S Buyer:+7 Seller:-55:Too_expensive
e5 B DECLINED 2026-01-31T22:00 P Buyer:-3: Seller:0
e6 A EXPIRED 2026-01-15T08:00 S Buyer:+20 Seller:0
e7 A CANCELLED 2026-02-01T00:30 P Buyer:0 Seller:0
e8 B IN_PROGRESS 2026-02-02T10:00 S Buyer:+4 Seller:0
e9 A SENT 2026-02-03T10:00 S Buyer:0 Seller:0
e10 A DECLINED 2026-02-04T10:00 P Buyer:-9:Too_expensive Seller:+1
`;

function envelopeOf(line: string): Envelope {
  const [id = '', templateId, status, sent = '', order, ...people] = line.split(' ');
  const sentAt = `${sent}:00.000Z`;
  const at = (hours: string) => new Date(Date.parse(sentAt) + Math.abs(Number(hours)) * HOUR).toISOString();
  const signers = people.map((text, index): Signer => {
    const [role = '', did = '', reason = ''] = text.split(':');
    const signedAt = did.startsWith('+') ? at(did) : null;
    const declinedAt = did.startsWith('-') ? at(did) : null;
    return { role, order: index + 1, signedAt, declinedAt, declineReason: reason.replace('_', ' ') };
  });
  const completedAt =
    status === 'COMPLETED' ? at(String(Math.max(...people.map((text) => Number(text.split(':')[1]))))) : null;
  const signingOrder = order === 'S' ? 'SEQUENTIAL' : 'PARALLEL';
  return {
    id,
    templateId,
    templateName: `Old ${templateId}`,
    status,
    signingOrder,
    sentAt,
    createdAt: sentAt,
    completedAt,
    signers,
  };
}

const envelopes: Envelope[] = [
  ...TABLE.trim().split('\n').map(envelopeOf),
  { id: 'draft', status: 'DRAFT', sentAt: null },
  { id: 'canceled draft', status: 'CANCELLED', sentAt: null },
];

function reportBy(by?: GroupBy, all: Envelope[] = envelopes) {
  return computeReport(
    { envelopes: all, isSelected: () => true },
    { since: null, until: null, now: NOW, by },
  );
}
async function groupsBy(by: GroupBy, all?: Envelope[]) {
  return (await reportBy(by, all)).report.groups;
}

describe('a report', () => {
  it('matches the independent calculation', async () => {
    const { report, weeks } = await reportBy();
    const { attention: _, ...figures } = report;
    expect(figures).toEqual({
      since: null,
      until: '2026-02-10T00:00:00.000Z',
      sent: 10,
      completed: 3,
      declined: 3,
      expired: 1,
      cancelled: 1,
      open: 2,
      completionRate: 0.375,
      toComplete: { samples: 3, medianMs: 29 * HOUR, p85Ms: 283_320_000, p95Ms: 334_440_000 },
      turn: { samples: 13, medianMs: 9 * HOUR, p85Ms: 149_760_000, p95Ms: 247_680_000 },
      declineReasons: [
        { reason: 'Too expensive', count: 2 },
        { reason: null, count: 1 },
      ],
      sentThisMonth: 4,
      groups: [],
    });
    expect(weeks.map(({ week, sent, completed }) => [week, sent, completed])).toEqual([
      ['2026-W02', 2, 1],
      ['2026-W03', 2, 2],
      ['2026-W04', 1, 0],
      ['2026-W05', 2, 0],
      ['2026-W06', 3, 0],
    ]);
  });

  it('counts turns by role', async () => {
    const groups = await groupsBy({ kind: 'role' });
    expect(groups).toMatchObject([
      { key: 'Buyer', sent: 10, completed: 6, declined: 2, expired: 0, cancelled: 1, open: 1 },
      { key: 'Seller', sent: 9, completed: 4, declined: 2, expired: 1, cancelled: 1, open: 1 },
    ]);
    expect(groups.map(({ turn }) => [turn.samples, turn.medianMs])).toEqual([
      [8, 8 * HOUR],
      [5, 24 * HOUR],
    ]);
    expect(groups.map(({ toComplete }) => [toComplete.samples, toComplete.medianMs])).toEqual([
      [6, 8.5 * HOUR],
      [4, 13 * HOUR],
    ]);
    expect(groups.map(({ declineReasons }) => declineReasons.map(({ reason }) => reason))).toEqual([
      [null, 'Too expensive'],
      ['Too expensive'],
    ]);
  });

  it('includes weeks without envelopes, and leaves out times that are missing', async () => {
    const of = (sentAt: string | null): Envelope => ({ id: 'x', status: 'SENT', sentAt });
    const sentAt = ['2026-02-09T00:00Z', '2026-01-18T12:00Z', null, '2026-02-10T00:00Z', '2026-02-10T01:00Z'];
    const { report, weeks } = await reportBy(undefined, sentAt.map(of));
    expect(weeks.map(({ week, sent }) => [week, sent])).toEqual([
      ['2026-W03', 1],
      ['2026-W04', 0],
      ['2026-W05', 0],
      ['2026-W06', 0],
      ['2026-W07', 3],
    ]);
    expect(report).toMatchObject({ sent: 5, open: 5, completionRate: null, sentThisMonth: 3 });
  });

  it('draws no weeks of the far past or of the future', async () => {
    const sentAt = ['0001-01-01T00:00:00Z', '2026-02-09T00:00:00Z', '9999-12-31T00:00:00Z'];
    const all = sentAt.map((at): Envelope => ({ id: at, status: 'SENT', sentAt: at }));
    const { report, weeks } = await reportBy(undefined, all);
    expect(weeks).toEqual([{ week: '2026-W07', sent: 1, completed: 0 }]);
    expect(report.sent).toBe(3);
  });

  it('counts only selected envelopes of the period, and finds those that need attention in any period', async () => {
    const draft = { id: 'old draft', status: 'DRAFT', createdAt: '2026-02-03T00:00:00Z' };
    const [first, second] = ['2026-02-12T23:00:00Z', '2026-02-13T01:00:00Z'].map((expiresAt) => ({
      id: expiresAt,
      status: 'SENT',
      sentAt: '2026-02-09T23:00:00Z',
      createdAt: '2026-02-09T23:00:00Z',
      expiresAt,
    }));
    const replacement = { id: 'new', status: 'SENT', metadata: { replaces: 'e5' } };
    const all = [...envelopes, draft, first, second, replacement].flatMap((one) => one ?? []);
    const { report } = await computeReport(
      { envelopes: all, isSelected: ({ id }) => id !== 'e10' && id !== 'new' },
      { since: Date.UTC(2026, 1, 2), until: Date.UTC(2026, 1, 4), now: NOW, by: undefined },
    );
    // e8 and e9: e10 is not selected, and the others were created earlier or later.
    expect(report).toMatchObject({
      sent: 2,
      since: '2026-02-02T00:00:00.000Z',
      until: '2026-02-04T00:00:00.000Z',
    });
    const { attention } = report;
    const ids = Object.entries(attention).map(([kind, { count, envelopes: some }]) => [
      kind,
      count,
      ...some.map(({ id, at }) => `${id} ${at}`),
    ]);
    expect(ids).toEqual([
      // e5 was replaced.
      ['declined', 1, 'e4 2026-01-22T19:00:00.000Z'],
      ['expiring', 1, '2026-02-12T23:00:00Z 2026-02-12T23:00:00Z'],
      // Fewer than 20 turns have finished, so seven days are usual: e8 waits since its first signature, e9 not long enough.
      ['overdue', 1, 'e8 2026-02-02T14:00:00.000Z'],
      ['drafts', 1, 'old draft 2026-02-03T00:00:00Z'],
    ]);
  });

  it('counts instant completions, and none with contradictory times', async () => {
    const of = (completedAt: string): Envelope => {
      const sentAt = '2026-02-01T00:00:00Z';
      const signers = [{ role: 'Buyer', signedAt: completedAt }];
      return { id: 'x', status: 'COMPLETED', sentAt, completedAt, signers };
    };
    const all = ['2026-02-01T00:00:00Z', '2026-02-01T02:00:00Z', '2026-01-31T23:59:59Z'].map(of);
    const { report } = await reportBy({ kind: 'role' }, all);
    for (const figures of [report, ...report.groups])
      expect(figures).toMatchObject({
        completed: 3,
        toComplete: { samples: 2, medianMs: HOUR },
        turn: { samples: 2 },
      });
  });

  it('lists reasons by frequency and then by text, without spaces around them', async () => {
    const reasons = ['b', ' a ', 'c', 'c', ' ', 'a', 'b', 'c', null, undefined];
    const all = reasons.map(
      (declineReason): Envelope => ({
        id: 'x',
        status: 'DECLINED',
        signers: [{ status: 'DECLINED', declineReason }, { status: 'SENT' }],
      }),
    );
    const { report } = await reportBy(undefined, all);
    expect(report.declineReasons.map(({ reason, count }) => [reason, count])).toEqual([
      [null, 3],
      ['c', 3],
      ['a', 2],
      ['b', 2],
    ]);
  });

  it('counts a turn as declined even if the envelope was canceled later', async () => {
    const signers = [{ role: 'Buyer', declinedAt: '2026-02-02T00:00:00Z' }, { role: 'Seller' }];
    const canceled = { id: 'x', status: 'CANCELLED', sentAt: '2026-02-01T00:00:00Z', signers };
    expect(await groupsBy({ kind: 'role' }, [canceled])).toMatchObject([
      { key: 'Buyer', declined: 1, cancelled: 0 },
      { key: 'Seller', declined: 0, cancelled: 1 },
    ]);
  });

  it.each([
    ['month', ['2026-01', 6, '2026-02', 4]],
    ['week', ['2026-W02', 2, '2026-W03', 2, '2026-W04', 1, '2026-W05', 2, '2026-W06', 3]],
    ['template', ['A', 7, 'B', 3]],
    ['run', [null, 10]],
  ] as const)('groups by %s', async (kind, expected) => {
    expect((await groupsBy({ kind })).flatMap(({ key, sent }) => [key, sent])).toEqual(expected);
  });

  it('groups by a metadata value, the largest group first and those without a value last', async () => {
    const of = (metadata: Envelope['metadata']): Envelope => ({ id: 'x', status: 'SENT', metadata });
    const units = ['b', '', 7, null, 'a.b', '7', { n: 1 }, 'b', 'b'].map((unit) => of({ unit }));
    const groups = await groupsBy({ kind: 'meta', metadataKey: 'unit' }, [of({}), ...units, of(null)]);
    expect(groups.map(({ key, name, sent }) => [key, name, sent])).toEqual([
      ['b', 'b', 3],
      ['7', '7', 2],
      ['a.b', 'a.b', 1],
      ['{"n":1}', '{"n":1}', 1],
      [null, null, 4],
    ]);
  });

  it('groups by the run that created the envelope', async () => {
    const of = (metadata: Envelope['metadata']): Envelope => ({ id: 'x', status: 'SENT', metadata });
    const groups = await groupsBy({ kind: 'run' }, [of({}), of({ esignRun: 'run_1' })]);
    expect(groups.map(({ key, sent }) => [key, sent])).toEqual([
      ['run_1', 1],
      [null, 1],
    ]);
  });

  it.each(['month', 'week'] as const)('sorts a report by %s by time', async (kind) => {
    const forwards = await groupsBy({ kind });
    expect(await groupsBy({ kind }, envelopes.toReversed())).toEqual(forwards);
    const keys = forwards.map(({ key }) => key);
    expect(keys).toEqual(keys.toSorted());
  });

  it('uses the latest name of a template', async () => {
    const renamed: Envelope = {
      id: 'new',
      templateId: 'A',
      templateName: 'New A',
      status: 'SENT',
      createdAt: '2026-02-09',
    };
    for (const all of [
      [renamed, ...envelopes],
      [...envelopes, renamed],
    ])
      expect((await groupsBy({ kind: 'template' }, all))[0]?.name).toBe('New A');
  });
});
