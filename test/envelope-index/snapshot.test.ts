import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/api/schemas.ts';
import { entryOf, type IndexEvent } from '../../src/envelope-index/entry.ts';
import { canChange, isPartlyKnown, Snapshot } from '../../src/envelope-index/snapshot.ts';
import { writeLine } from '../../src/journal/line.ts';
import { type Criteria, selectionOf } from '../support/selection.ts';

const ada: Envelope = {
  id: 'env_1',
  status: 'SENT',
  subject: 'Lease for Berlin',
  templateId: 'tmpl_1',
  templateName: 'Lease',
  createdAt: '2026-01-01T00:00:00Z',
  metadata: { deal: 'D-7' },
  signers: [{ id: 's_1', name: 'Ada', email: 'ada@example.com', status: 'PENDING' }],
};
const { metadata: _, signers: __, ...listed } = ada;

type Line = { envelope: Envelope; alone?: boolean; seen?: number } | IndexEvent | string;

/** A snapshot of a file with these lines. */
function snapshotOf(lines: readonly Line[], criteria: Criteria = {}): Snapshot {
  const snapshot = new Snapshot(selectionOf(criteria));
  let start = 0;
  for (const line of lines) {
    const text =
      typeof line === 'string'
        ? line
        : writeLine(
            'envelope' in line ? entryOf(line.envelope, line.alone ?? true, line.seen ?? 1) : line,
          ).trimEnd();
    const bytes = Buffer.from(text);
    snapshot.take(bytes, start, start + bytes.length + 1);
    start += bytes.length + 1;
  }
  return snapshot;
}
const oneOf = (lines: readonly Line[], selection: Criteria = {}) =>
  snapshotOf(lines, selection).known.get('env_1');

describe('a search of the index', () => {
  it.each<[string, Criteria, boolean]>([
    ['nothing', {}, true],
    ['a word', { search: 'Berlin' }, true],
    ['the beginnings of words', { search: 'ber  ADA' }, true],
    ['the middle of a word', { search: 'erlin' }, false],
    ['one of two words', { search: 'berlin paris' }, false],
    ['a part of an address', { signer: 'DA@exam' }, true],
    ['an absent part', { signer: 'eve@exam' }, false],
    ['its template', { template: 'TMPL_1' }, true],
    ['another template', { template: 'tmpl_2' }, false],
    [
      'a value of its metadata',
      {
        metadata: [
          ['deal', 'D-7'],
          ['x', ''],
        ],
      },
      true,
    ],
    [
      'one of two values',
      {
        metadata: [
          ['deal', 'D-7'],
          ['other', 'D-8'],
        ],
      },
      false,
    ],
    ['the name of a field', { signer: 'signers' }, false],
  ])('for %s is %j: %s', (_name, query, isHit) => {
    expect(oneOf([{ envelope: ada }], query)?.hit).toBe(isHit);
  });

  it.each<[string, Criteria, boolean]>([
    ['another template', { template: 'tmpl_2' }, true],
    ['its template', { template: 'TMPL_1' }, false],
    ['an absent word', { search: 'paris' }, false],
    ['a value, as the list shows no metadata', { metadata: [['deal', 'd-8']] }, false],
  ])('excludes a partly known envelope for good if it is for %s', (_name, query, isExcluded) => {
    expect(oneOf([{ envelope: listed, alone: false }], query)?.excluded).toBe(isExcluded);
  });

  it("doesn't exclude a partly known envelope whose template the list doesn't show", () => {
    const { templateName: _name, templateId: _id, ...bare } = listed;
    const query = { template: 'tmpl_2' };
    expect([bare, listed].map((envelope) => oneOf([{ envelope, alone: false }], query)?.excluded)).toEqual([
      false,
      true,
    ]);
  });

  it("doesn't exclude a partly known envelope whose template's name the list doesn't show", () => {
    const { templateName: _name, ...nameless } = listed;
    const query = { template: 'nda' };
    expect(oneOf([{ envelope: nameless, alone: false }], query)?.excluded).toBe(false);
    expect(oneOf([{ envelope: nameless, alone: true }], query)?.excluded).toBe(true);
  });

  it('excludes an envelope that was read and has no metadata', () => {
    expect(oneOf([{ envelope: { ...ada, metadata: null } }], { metadata: [['deal', 'd-8']] })?.excluded).toBe(
      true,
    );
  });

  it('excludes a partly known envelope whose metadata has another value', () => {
    const query: Criteria = { metadata: [['deal', 'd-8']] };
    expect(
      oneOf([{ envelope: { ...listed, metadata: { deal: 'D-7' } }, alone: false }], query)?.excluded,
    ).toBe(true);
    expect(oneOf([{ envelope: ada }], query)?.excluded).toBe(true);
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
    expect(snapshotOf([{ envelope: { ...ada, status } }], { statuses }).hits(0)).toHaveLength(may ? 1 : 0);
  });

  it('may match any status if a webhook has reported it, or no status is selected', () => {
    const declined = { envelope: { ...ada, status: 'DECLINED' } };
    const reported = { touched: 'env_1', status: 'DECLINED', seen: 2 };
    const hits = [
      snapshotOf([declined], { statuses: ['SENT'] }),
      snapshotOf([declined, reported], { statuses: ['SENT'] }),
      snapshotOf([declined]),
    ].map((snapshot) => snapshot.hits(0).length);
    expect(hits).toEqual([0, 1, 1]);
  });

  it.each<[number | undefined, boolean]>([
    [999, false],
    [1_000, true],
    [2_000, true],
    [2_001, false],
    [undefined, true],
  ])('created at %s ms may match a time from 1000 to 2000 ms: %s', (created, may) => {
    const selection: Criteria = { createdAfter: (now) => now - 4_000, createdBefore: (now) => now - 3_000 };
    const createdAt = created === undefined ? undefined : new Date(created).toISOString();
    const snapshot = snapshotOf([{ envelope: { ...ada, createdAt } }], selection);
    expect(snapshot.hits(5_000)).toHaveLength(may ? 1 : 0);
  });

  it('is read if it is partly known and may match', () => {
    const line = { envelope: listed, alone: false };
    const missing = [
      {},
      { search: 'eve' },
      { search: 'eve', statuses: ['DRAFT'] },
      { template: 'tmpl_2' },
    ].map((selection) => snapshotOf([line], selection).missing(0).length);
    expect(missing).toEqual([0, 1, 0, 0]);
  });

  it('comes before an older one, and among those of the same time, in the order of their IDs', () => {
    const lines = ['env_1', 'env_3', 'env_2'].map((id) => ({ envelope: { ...ada, id } }));
    const newest = { envelope: { ...ada, id: 'env_0', createdAt: '2026-01-02T00:00:00Z' } };
    const ids = snapshotOf([...lines, newest])
      .hits(0)
      .map(({ id }) => id);
    expect(ids).toEqual(['env_0', 'env_3', 'env_2', 'env_1']);
  });
});

describe('the lines of an index', () => {
  const moved: Envelope = { ...ada, status: 'COMPLETED' };

  it('replace each other, and an older reading replaces nothing', () => {
    expect(
      oneOf([
        { envelope: ada, seen: 1 },
        { envelope: moved, seen: 2 },
      ]),
    ).toMatchObject({ status: 'COMPLETED', seen: 2 });
    expect(
      oneOf([
        { envelope: moved, seen: 2 },
        { envelope: ada, seen: 1 },
      ]),
    ).toMatchObject({ status: 'COMPLETED', seen: 2 });
    expect(
      oneOf([
        { envelope: ada, seen: 2 },
        { envelope: moved, seen: 2 },
      ]),
    ).toMatchObject({ status: 'COMPLETED' });
  });

  it('that seem to be from the future are outdated, and later lines replace them', () => {
    const future = { envelope: ada, seen: Date.now() + 3_600_000 };
    expect(oneOf([future])?.seen).toBe(0);
    const signed = { envelope: { ...ada, status: 'COMPLETED' }, seen: Date.now() };
    expect(oneOf([future, signed])).toMatchObject({ status: 'COMPLETED', seen: signed.seen });
  });

  it('from a list update only the status of an envelope that was read', () => {
    const same = { envelope: listed, alone: false, seen: 2 };
    expect(oneOf([{ envelope: ada }, same])).toMatchObject({ known: 'whole', touched: false, seen: 1 });
    const other = { envelope: { ...listed, status: 'DECLINED' }, alone: false, seen: 2 };
    expect(oneOf([{ envelope: ada }, other])).toMatchObject({
      known: 'whole',
      status: 'DECLINED',
      touched: true,
    });
    expect(oneOf([{ envelope: ada }, other, { ...other, seen: 3 }])).toMatchObject({ touched: true });
  });

  it('from a list replace an envelope that was created at another time, or that was partly known', () => {
    const recreated = { envelope: { ...listed, createdAt: '2026-01-05T00:00:00Z' }, alone: false, seen: 2 };
    expect(oneOf([{ envelope: ada }, recreated])).toMatchObject({
      known: 'part',
      created: Date.UTC(2026, 0, 5),
    });
    const part = { envelope: listed, alone: false };
    expect(
      oneOf([
        { ...part, seen: 1 },
        { ...part, seen: 2 },
      ]),
    ).toMatchObject({ known: 'part', seen: 2 });
  });

  it('remove an envelope that is gone', () => {
    expect(oneOf([{ envelope: ada }, { gone: 'env_1', seen: 2 }])).toBeUndefined();
  });

  it('mark an envelope that a webhook reported, also before it was read', () => {
    const touched = { touched: 'env_1', status: 'IN_PROGRESS', seen: 5 };
    expect(oneOf([{ envelope: ada }, touched])).toMatchObject({
      status: 'IN_PROGRESS',
      touched: true,
      seen: 1,
    });
    expect(oneOf([touched])).toMatchObject({
      status: 'IN_PROGRESS',
      known: 'part',
      touched: true,
      seen: 5,
      start: 0,
      end: 0,
      hit: false,
      excluded: false,
      created: Number.NaN,
    });
    const cancelled: Envelope = { ...ada, status: 'CANCELLED' };
    expect(oneOf([{ envelope: cancelled }, touched])).toMatchObject({ status: 'CANCELLED', touched: false });
  });

  it('contain when the index was complete last', () => {
    const snapshot = snapshotOf([
      { complete: 1, upTo: 2, extra: 3 },
      { complete: 4, upTo: 5, extra: 6 },
    ]);
    expect(snapshot.completeness).toEqual({ complete: 4, upTo: 5, extra: 6 });
    expect(snapshotOf([]).completeness).toBeUndefined();
  });

  it('are skipped if they are damaged, empty, or unknown', () => {
    const line = writeLine({ gone: 'env_1', seen: 2 }).trimEnd();
    const snapshot = snapshotOf([
      { envelope: ada },
      line.replace('seen', 'sean'),
      '',
      writeLine({ other: 1 }).trimEnd(),
    ]);
    expect([snapshot.damaged, snapshot.known.size]).toEqual([1, 1]);
  });

  it('have positions, of which the last for each envelope counts', () => {
    const snapshot = snapshotOf([
      { envelope: ada },
      { envelope: moved, seen: 2 },
      { envelope: { ...ada, id: 'env_2' } },
    ]);
    const [one, two] = [snapshot.known.get('env_1'), snapshot.known.get('env_2')];
    expect(one?.end).toBe(two?.start);
    expect(snapshot.size).toBe(two?.end);
    expect(snapshot.live).toBe(snapshot.size - (one?.start ?? 0));
    expect(one?.start).toBeGreaterThan(0);
  });
});

describe('the envelopes of a run', () => {
  const run = { id: 'run-7', envelopeIds: undefined };
  it.each<[string, Envelope, boolean, boolean]>([
    ['belong to it by their metadata', { ...ada, metadata: { esignRun: 'run-7' } }, true, false],
    ["don't belong to it with other metadata", ada, false, false],
    ["don't belong to it if another field has its name", { ...ada, subject: 'run-7' }, false, false],
    ['belong to it if they replace one of it', { ...ada, metadata: { replaces: 'env_0' } }, true, false],
    ['are undecided if the list shows no metadata', listed, false, true],
  ])('%s', (_name, envelope, is, isUndecided) => {
    const alone = envelope !== listed;
    const first: Envelope = { ...ada, id: 'env_0', metadata: { esignRun: 'run-7' } };
    const { members } = snapshotOf([{ envelope: first }, { envelope, alone }], { run });
    expect([members?.has('env_1'), members?.isUndecided('env_1')]).toEqual([is, isUndecided]);
  });
});

describe('reading the list', () => {
  const many = (count: number, alone: boolean, seen: number) =>
    snapshotOf(
      Array.from({ length: count }, (_unused, n) => ({
        envelope: { ...(alone ? ada : listed), id: `env_${n}` },
        alone,
        seen,
      })),
    );

  it.each<[string, Snapshot, number, boolean]>([
    ['takes fewer requests than the envelopes', many(250, true, 10), 3, true],
    ['takes as many requests', many(300, true, 10), 3, false],
    ['shows too few fields', many(250, false, 10), 3, false],
    ['shows unknown fields, as nothing was listed yet', many(250, true, 9), 3, false],
  ])('%s', (_name, snapshot, envelopes, is) => {
    expect(snapshot.isListCheaper(envelopes, 9)).toBe(is);
  });

  it('is not worth it if some of its items have too few fields', () => {
    const items = Array.from({ length: 250 }, (_unused, n) => ({
      envelope: { ...(n === 7 ? listed : ada), id: `env_${n}` },
      alone: n !== 7,
      seen: 10,
    }));
    expect(snapshotOf(items).isListCheaper(3, 9)).toBe(false);
  });

  it('is needed for what can change, or is partly known', () => {
    const cancelled: Envelope = { ...ada, status: 'CANCELLED' };
    const facts = [ada, cancelled, listed].map((envelope) => {
      const one = oneOf([{ envelope, alone: envelope !== listed }]);
      return one && [canChange(one), isPartlyKnown(one)];
    });
    expect(facts).toEqual([
      [true, false],
      [false, false],
      [true, true],
    ]);
  });
});
