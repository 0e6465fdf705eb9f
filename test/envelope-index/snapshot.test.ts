import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/api/schemas.ts';
import { entryOf, type IndexEvent } from '../../src/envelope-index/entry.ts';
import {
  canChange,
  type IndexQuery,
  isListCheaper,
  isPartlyKnown,
  Snapshot,
} from '../../src/envelope-index/snapshot.ts';
import { writeLine } from '../../src/journal/line.ts';

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
function snapshotOf(lines: readonly Line[], query: IndexQuery = {}): Snapshot {
  const snapshot = new Snapshot(query);
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
const oneOf = (lines: readonly Line[], query: IndexQuery = {}) => snapshotOf(lines, query).known.get('env_1');

describe('a search of the index', () => {
  it.each<[string, IndexQuery, boolean]>([
    ['nothing', {}, true],
    ['a word', { words: ['berlin'] }, true],
    ['the beginnings of words', { words: ['ber', 'ada'] }, true],
    ['the middle of a word', { words: ['erlin'] }, false],
    ['one of two words', { words: ['berlin', 'paris'] }, false],
    ['a part of an address', { part: 'da@exam' }, true],
    ['an absent part', { part: 'eve@exam' }, false],
    ['its template', { template: 'tmpl_1' }, true],
    ['another template', { template: 'tmpl_2' }, false],
    ['a value of its metadata', { values: ['d-7'] }, true],
    ['one of two values', { values: ['d-7', 'd-8'] }, false],
    ['the name of a field', { part: 'signers' }, false],
  ])('for %s is %j: %s', (_name, query, isHit) => {
    expect(oneOf([{ envelope: ada }], query)?.hit).toBe(isHit);
  });

  it.each<[string, IndexQuery, boolean]>([
    ['another template', { template: 'tmpl_2' }, true],
    ['its template', { template: 'tmpl_1' }, false],
    ['an absent word', { words: ['paris'] }, false],
    ['a value, as the list shows no metadata', { values: ['d-8'] }, false],
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
    expect(oneOf([{ envelope: { ...ada, metadata: null } }], { values: ['d-8'] })?.excluded).toBe(true);
  });

  it('excludes a partly known envelope whose metadata has another value', () => {
    const query = { values: ['d-8'] };
    expect(
      oneOf([{ envelope: { ...listed, metadata: { deal: 'D-7' } }, alone: false }], query)?.excluded,
    ).toBe(true);
    expect(oneOf([{ envelope: ada }], query)?.excluded).toBe(true);
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
    expect(isListCheaper(snapshot, envelopes, 9)).toBe(is);
  });

  it('is not worth it if some of its items have too few fields', () => {
    const items = Array.from({ length: 250 }, (_unused, n) => ({
      envelope: { ...(n === 7 ? listed : ada), id: `env_${n}` },
      alone: n !== 7,
      seen: 10,
    }));
    expect(isListCheaper(snapshotOf(items), 3, 9)).toBe(false);
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
