import { describe, expect, it } from 'vitest';
import { indexQueryOf, mayMatchNow } from '../../src/envelope-index/query.ts';
import type { IndexedEnvelope } from '../../src/envelope-index/snapshot.ts';
import type { Selection } from '../../src/envelopes/select.ts';

const one: IndexedEnvelope = {
  id: 'env_1',
  status: 'SENT',
  created: 1_000,
  known: 'whole',
  seen: 1,
  start: 1,
  end: 2,
  touched: false,
  hit: true,
  excluded: false,
};

describe('the texts that the index is searched for', () => {
  it.each<[string, Selection, object]>([
    ['nothing', {}, { words: [], part: undefined, template: undefined, values: [], run: undefined }],
    ['the folded words of a search', { search: 'Ada  LEASE' }, { words: ['ada', 'lease'] }],
    ['a part of a signer', { signer: 'ADA@' }, { part: 'ada@' }],
    ['a template', { templateId: 'Lease' }, { template: 'lease' }],
    [
      'the values of metadata that are not empty',
      {
        metadata: [
          ['deal', 'D-7'],
          ['x', ''],
        ],
      },
      { values: ['d-7'] },
    ],
    ['a run', { run: { id: 'r', envelopeIds: undefined } }, { run: { id: 'r', envelopeIds: undefined } }],
  ])('are %s', (_, selection, expected) => {
    expect(indexQueryOf(selection)).toMatchObject(expected);
  });
});

describe('an envelope in the index', () => {
  const NEVER_AGAIN: [string, string[], boolean][] = [
    ['SENT', ['COMPLETED'], true],
    ['SENT', ['DRAFT'], false],
    ['SENT', ['IN_PROGRESS'], true],
    ['IN_PROGRESS', ['SENT'], false],
    ['IN_PROGRESS', ['SENT', 'DECLINED'], true],
    ['IN_PROGRESS', ['EXPIRED'], true],
    ['DECLINED', ['CANCELLED'], true],
    ['DECLINED', ['COMPLETED'], false],
    ['COMPLETED', ['CANCELLED'], false],
    ['COMPLETED', ['COMPLETED'], true],
    ['CANCELLED', ['SENT'], false],
    ['EXPIRED', ['SENT'], false],
    ['DRAFT', ['COMPLETED'], true],
    ['UNHEARD_OF', ['COMPLETED'], true],
  ];
  it.each(NEVER_AGAIN)('that was %s may match %j now: %s', (status, statuses, may) => {
    expect(mayMatchNow({ statuses }, { now: () => 0 })({ ...one, status })).toBe(may);
  });

  it('may match any status if a webhook has reported it, or no status is selected', () => {
    const ended = { ...one, status: 'COMPLETED' };
    expect(mayMatchNow({ statuses: ['SENT'] }, { now: () => 0 })({ ...ended, touched: true })).toBe(true);
    expect(mayMatchNow({}, { now: () => 0 })(ended)).toBe(true);
  });

  it.each<[number, boolean]>([
    [999, false],
    [1_000, true],
    [2_000, true],
    [2_001, false],
    [Number.NaN, true],
  ])('created at %s ms may match a time from 1000 to 2000 ms: %s', (created, may) => {
    const selection: Selection = { createdAfter: (now) => now - 4_000, createdBefore: (now) => now - 3_000 };
    expect(mayMatchNow(selection, { now: () => 5_000 })({ ...one, created })).toBe(may);
  });
});
