import { describe, expect, it } from 'vitest';
import { turnsOf } from '../../src/catalog/turns.ts';
import { percentile } from '../../src/reports/percentile.ts';
import { TurnHistory } from '../../src/reports/turn-history.ts';

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
  add(history, groups.flat());
  return history;
}
function add(history: TurnHistory, envelopes: readonly ReturnType<typeof finished>[]) {
  for (const envelope of envelopes)
    for (const turn of turnsOf(envelope)) history.addTurn(turn, envelope.templateId);
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
  ])('of %j at %d is %j', (sorted, percent, expected) => {
    expect(percentile(sorted, percent)).toBe(expected);
  });
});

describe('the usual time of a turn', () => {
  const kind = 'tmpl_lease';

  it('comes from the same template with 20 finished turns of any role', () => {
    const few = times(19, 'tmpl_lease', 'Tenant', 2);
    const template = historyOf(
      few,
      times(1, 'tmpl_lease', 'Landlord', 2),
      times(50, 'tmpl_nda', 'Tenant', 9),
    );
    expect(template.usualTime(kind)).toEqual({ percentileMs: 2 * DAY, basis: 'template', samples: 20 });
  });

  it('falls back to the account, then to 7 days', () => {
    const few = times(19, 'tmpl_lease', 'Tenant', 2);
    const account = historyOf(few, times(1, 'tmpl_nda', 'Tenant', 2));
    expect(account.usualTime(kind)).toMatchObject({
      basis: 'account',
      samples: 20,
      percentileMs: 2 * DAY,
    });
    expect(historyOf(few).usualTime(kind)).toEqual({
      percentileMs: 7 * DAY,
      basis: 'default',
      samples: 0,
    });
  });

  it('is looked up for each template', () => {
    const history = historyOf(times(20, 'tmpl_lease', 'Tenant', 2), times(20, 'tmpl_nda', 'Tenant', 4));
    expect(history.usualTime('tmpl_lease').percentileMs).toBe(2 * DAY);
    expect(history.usualTime('tmpl_nda').percentileMs).toBe(4 * DAY);
    add(history, times(60, 'tmpl_nda', 'Tenant', 6));
    expect(history.usualTime('tmpl_nda').percentileMs).toBe(6 * DAY);
    // Envelopes without a template are not those of one template.
    expect(history.usualTime(undefined).basis).toBe('account');
  });

  it('is the 85th percentile of the durations, without those that end before they begin', () => {
    const history = historyOf(...[9, 0, 1, 8, -1].map((days) => times(5, 'tmpl_lease', 'Tenant', days)));
    // Of 0, 1, 8, and 9 days, five times each, in ascending order: between the 17th and the 18th.
    expect(history.usualTime(kind)).toMatchObject({ percentileMs: 9 * DAY, samples: 20 });
    for (const days of [0, 1]) add(history, times(5, 'tmpl_lease', 'Tenant', days));
    expect(history.usualTime(kind)).toMatchObject({ percentileMs: 8.65 * DAY, samples: 30 });
  });

  it('counts declines, and no turn that finished more than 180 days ago', () => {
    const declines = Array.from({ length: 5 }, () => finished('tmpl_lease', 'Tenant', 5, 10, 'declined'));
    const history = historyOf(times(15, 'tmpl_lease', 'Tenant', 3, 180), declines);
    expect(history.usualTime(kind)).toMatchObject({ percentileMs: 5 * DAY, samples: 20 });
    expect(historyOf(times(20, 'tmpl_lease', 'Tenant', 3, 181)).usualTime(kind).basis).toBe('default');
  });
});
