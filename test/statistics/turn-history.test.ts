import { describe, expect, it } from 'vitest';
import { percentile } from '../../src/kernel/percentile.ts';
import { TurnHistory } from '../../src/statistics/turn-history.ts';

const NOW = Date.UTC(2026, 5, 1);
const DAY = 86_400_000;

/** An envelope of a template that one signer ended after a number of days, a number of days ago. */
function finished(templateId: string, role: string, days: number, endedAgo = 10, how = 'signed') {
  const ended = new Date(NOW - endedAgo * DAY).toISOString();
  return {
    templateId,
    status: how === 'signed' ? 'COMPLETED' : 'DECLINED',
    signingOrder: 'PARALLEL',
    sentAt: new Date(NOW - (endedAgo + days) * DAY).toISOString(),
    signers: [
      { role, signedAt: how === 'signed' ? ended : null, declinedAt: how === 'signed' ? null : ended },
    ],
  };
}

function historyOf(...groups: ReturnType<typeof finished>[][]) {
  const history = new TurnHistory(NOW);
  for (const envelope of groups.flat()) history.add(envelope);
  return history;
}
const times = (count: number, template: string, role: string, days: number, endedAgo?: number) =>
  Array.from({ length: count }, () => finished(template, role, days, endedAgo));

describe('percentile', () => {
  // Reference values: PERCENTILE.INC of a spreadsheet.
  it.each([
    [[], 50, null],
    [[7], 85, 7],
    [[10, 20], 50, 15],
    [[15, 20, 35, 40, 50], 40, 29],
    [[100, 200, 300, 400], 85, 355],
    [[1, 2, 3], 100, 3],
    [[1, 2, 3], 0, 1],
  ])('returns for %j at %d: %j', (sorted, percent, expected) => {
    expect(percentile(sorted, percent)).toBe(expected);
  });
});

describe('the usual time of a turn', () => {
  const kind = { templateId: 'tmpl_lease', role: 'Tenant' };

  it('comes from the same template and role with 20 finished turns', () => {
    const history = historyOf(times(20, 'tmpl_lease', 'Tenant', 2), times(50, 'tmpl_lease', 'Landlord', 9));
    expect(history.usualTime(kind, 85)).toEqual({
      percentileMs: 2 * DAY,
      basis: 'template+role',
      samples: 20,
    });
  });

  it('falls back to the template, then to the account, then to 7 days', () => {
    const few = times(19, 'tmpl_lease', 'Tenant', 2);
    const template = historyOf(few, times(1, 'tmpl_lease', 'Landlord', 4));
    expect(template.usualTime(kind, 100)).toMatchObject({
      basis: 'template',
      samples: 20,
      percentileMs: 4 * DAY,
    });
    const account = historyOf(few, times(1, 'tmpl_nda', 'Tenant', 5));
    expect(account.usualTime(kind, 100)).toMatchObject({
      basis: 'account',
      samples: 20,
      percentileMs: 5 * DAY,
    });
    expect(historyOf(few).usualTime(kind, 85)).toEqual({
      percentileMs: 7 * DAY,
      basis: 'default',
      samples: 0,
    });
  });

  it('is looked up for each template and role', () => {
    const history = historyOf(
      times(20, 'tmpl_lease', 'Tenant', 2),
      times(20, 'tmpl_lease', 'Landlord', 9),
      times(20, 'tmpl_nda', 'Tenant', 4),
    );
    const medianOf = (templateId: string, role: string) =>
      history.usualTime({ templateId, role }, 50).percentileMs;
    expect(medianOf('tmpl_lease', 'Tenant')).toBe(2 * DAY);
    expect(medianOf('tmpl_lease', 'Landlord')).toBe(9 * DAY);
    expect(medianOf('tmpl_nda', 'Tenant')).toBe(4 * DAY);
    for (const envelope of times(60, 'tmpl_nda', 'Tenant', 6)) history.add(envelope);
    expect(medianOf('tmpl_nda', 'Tenant')).toBe(6 * DAY);
  });

  it('uses durations in ascending order, and none that ends before it begins', () => {
    const history = historyOf(...[9, 0, 1, 8, -1].map((days) => times(5, 'tmpl_lease', 'Tenant', days)));
    expect(history.samplesOf(kind)).toMatchObject({ durations: { length: 20 } });
    expect(history.usualTime(kind, 50)).toMatchObject({ percentileMs: 4.5 * DAY, samples: 20 });
    expect(history.usualTime(kind, 100).percentileMs).toBe(9 * DAY);
  });

  it('counts separately the turns that ended because the envelope expired', () => {
    const expired = (role: string, expiredAgo: number, status = 'EXPIRED') => ({
      templateId: 'tmpl_lease',
      status,
      sentAt: new Date(NOW - 200 * DAY).toISOString(),
      expiresAt: new Date(NOW - expiredAgo * DAY).toISOString(),
      signers: [{ role }],
    });
    const history = historyOf(times(19, 'tmpl_lease', 'Tenant', 2), [
      finished('tmpl_lease', 'Landlord', 4, 10, 'declined'),
    ]);
    for (const one of [expired('Tenant', 180), expired('Landlord', 1), expired('Landlord', 2)])
      history.add(one);
    for (const one of [expired('Tenant', 181), expired('Tenant', 1, 'CANCELLED')]) history.add(one);
    // A signature in an envelope that expired later is no expired turn.
    history.add({
      ...finished('tmpl_nda', 'Tenant', 2),
      status: 'EXPIRED',
      expiresAt: expired('', 1).expiresAt,
    });
    expect(history.samplesOf(kind)).toMatchObject({
      basis: 'template',
      ignored: 3,
      signatures: { length: 19 },
      declines: { length: 1 },
    });
    for (const one of times(1, 'tmpl_lease', 'Tenant', 2)) history.add(one);
    expect(history.samplesOf(kind)).toMatchObject({ basis: 'template+role', ignored: 1 });
    expect(history.samplesOf({ templateId: null, role: null })).toMatchObject({
      basis: 'account',
      ignored: 3,
    });
  });

  it('counts declines, and no turn that finished more than 180 days ago', () => {
    const declines = Array.from({ length: 5 }, () => finished('tmpl_lease', 'Tenant', 1, 10, 'declined'));
    const history = historyOf(times(15, 'tmpl_lease', 'Tenant', 3, 180), declines);
    expect(history.samplesOf(kind)).toMatchObject({ basis: 'template+role', declines: { length: 5 } });
    expect(history.usualTime(kind, 50)).toMatchObject({ percentileMs: 3 * DAY, samples: 20 });
    expect(historyOf(times(20, 'tmpl_lease', 'Tenant', 3, 181)).usualTime(kind, 50).basis).toBe('default');
  });
});
