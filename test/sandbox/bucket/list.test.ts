import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { xmlDocument } from '../../../src/sandbox/bucket/call.ts';
import { compareKeys, type StoredObjectFacts } from '../../../src/sandbox/bucket/object-store.ts';
import { listResult } from '../../../src/sandbox/bucket/server.ts';
import { childText, readXml, type XmlElement } from './xml-reader.ts';

type Objects = readonly StoredObjectFacts[];

const objectsOf = (keys: readonly string[]): Objects =>
  [...keys].sort(compareKeys).map((key) => ({
    key,
    size: key.length,
    etag: 'e',
    contentType: 'text/plain',
    metadata: {},
    headers: {},
    modifiedAt: '2026-01-01T00:00:00.000Z',
    checksums: {},
  }));

interface Entry {
  kind: 'object' | 'prefix';
  name: string;
}

interface Wanted {
  prefix: string;
  delimiter: string;
  after: string;
}

/** The expected listing, computed without pages, index, or stored order: from all keys each time. */
function model(keys: readonly string[], { prefix, delimiter, after }: Wanted): Entry[] {
  const entries = keys
    .filter((key) => key.startsWith(prefix) && Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0)
    .map((key): Entry => {
      const [head = '', ...rest] = delimiter === '' ? [key] : key.slice(prefix.length).split(delimiter);
      return rest.length === 0
        ? { kind: 'object', name: key }
        : { kind: 'prefix', name: prefix + head + delimiter };
    })
    // A prefix that the listing starts in counts as seen.
    .filter(({ kind, name }) => kind === 'object' || !after.startsWith(name));
  const unique = new Map(entries.map((entry) => [`${entry.kind} ${entry.name}`, entry]));
  return [...unique.values()];
}

const inOrder = (entries: readonly Entry[]) =>
  [...entries].sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));

interface Page {
  entries: Entry[];
  root: XmlElement;
}

/** One page as a client parses it: through the XML, with encoded names. */
function pageOf(objects: Objects, query: Record<string, string>): Page {
  const given = Object.entries({ ...query, 'encoding-type': 'url' }).filter(([, value]) => value !== '');
  const root = readXml(xmlDocument('ListBucketResult', listResult('b', objects, new Map(given))));
  const named = (element: string, child: string) =>
    root.children
      .filter(({ name }) => name === element)
      .map((one) => decodeURIComponent(childText(one, child) ?? ''));
  return {
    root,
    entries: [
      ...named('Contents', 'Key').map((name): Entry => ({ kind: 'object', name })),
      ...named('CommonPrefixes', 'Prefix').map((name): Entry => ({ kind: 'prefix', name })),
    ],
  };
}

/** Walks all pages; each but the last must be full and come after the previous one. */
function walk(
  listed: () => Objects,
  first: Record<string, string>,
  max: number,
  following: (root: XmlElement) => Record<string, string>,
): Entry[] {
  const seen: Entry[] = [];
  for (let query: Record<string, string> | undefined = first; query !== undefined; ) {
    const { root, entries } = pageOf(listed(), { ...query, 'max-keys': String(max) });
    const isTruncated = childText(root, 'IsTruncated') === 'true';
    expect(entries.length).toBeLessThanOrEqual(max);
    if (isTruncated) expect(entries).toHaveLength(max);
    for (const kind of ['object', 'prefix']) {
      const alike = entries.filter((entry) => entry.kind === kind);
      expect(alike).toEqual(inOrder(alike));
    }
    seen.push(...inOrder(entries));
    // Limits the walk even if the pages never end.
    expect(seen.length).toBeLessThan(1_000);
    query = isTruncated ? { ...query, ...following(root) } : undefined;
  }
  return seen;
}

// Few letters, so that prefixes and delimiters occur together; the last two have another order in UTF-16.
const letters = fc.constantFrom('a', 'b', '/', '-', 'é', ' ', '\uffee', '\u{1F58B}');
const text = (minLength: number, maxLength: number) => fc.string({ unit: letters, minLength, maxLength });
const keys = fc.uniqueArray(text(1, 6), { maxLength: 30 });
const delimiter = fc.oneof(fc.constant('/'), text(0, 2));
const max = fc.integer({ min: 1, max: 12 });

describe('a listing', () => {
  it.each([
    {
      version: 2,
      first: (after: string) => ({ 'list-type': '2', 'start-after': after }),
      next: (root: XmlElement) => ({ 'continuation-token': childText(root, 'NextContinuationToken') ?? '' }),
    },
    {
      version: 1,
      first: (after: string) => ({ marker: after }),
      next: (root: XmlElement) => ({ marker: decodeURIComponent(childText(root, 'NextMarker') ?? '') }),
    },
  ])('contains every key exactly once and in order in version $version', ({ first, next }) => {
    fc.assert(
      fc.property(keys, text(0, 2), delimiter, text(0, 3), max, (all, prefix, cut, after, size) => {
        const query: Record<string, string> = { ...first(after), prefix, delimiter: cut };
        expect(walk(() => objectsOf(all), query, size, next)).toEqual(
          inOrder(model(all, { prefix, delimiter: cut, after })),
        );
      }),
      { numRuns: 200 },
    );
  });

  it('never misses keys that stay while objects are added and deleted between pages', () => {
    fc.assert(
      fc.property(keys, keys, fc.nat(5), max, (all, others, every, size) => {
        const current = new Set(all);
        const leaving = all.filter((_, at) => at % (every + 2) === 0);
        const staying = all.filter((key) => !leaving.includes(key));
        const coming = others.filter((key) => !all.includes(key));
        const changes = [
          ...leaving.map((key) => () => current.delete(key)),
          ...coming.map((key) => () => current.add(key)),
        ];
        const names = walk(
          () => objectsOf([...current]),
          { 'list-type': '2' },
          size,
          (root) => {
            changes.pop()?.();
            return { 'continuation-token': childText(root, 'NextContinuationToken') ?? '' };
          },
        ).map(({ name }) => name);
        expect(new Set(names).size).toBe(names.length);
        expect(names).toEqual(expect.arrayContaining(staying));
      }),
    );
  });
});

it('returns at most 1,000 entries per page, and none if none are requested', () => {
  const objects = objectsOf(Array.from({ length: 1_001 }, (_, at) => `k${at}`));
  const page = pageOf(objects, { 'list-type': '2', 'max-keys': '5000' });
  expect(page.entries).toHaveLength(1_000);
  expect(childText(page.root, 'MaxKeys')).toBe('1000');
  expect(childText(page.root, 'IsTruncated')).toBe('true');
  const none = pageOf(objects, { 'list-type': '2', 'max-keys': '0' });
  expect(none.entries).toEqual([]);
  expect(childText(none.root, 'IsTruncated')).toBe('false');
});
