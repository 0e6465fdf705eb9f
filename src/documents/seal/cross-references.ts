import type { PdfBytes } from './pdf-bytes.ts';
import { countOf, nameOf, PdfDict, PdfStream, type PdfValue, UnreadablePdfError } from './pdf-values.ts';
import { unpack } from './streams.ts';

/** The location of an object: at an offset in the file, or at an index in an object stream. */
export type ObjectPlace =
  | { kind: 'plain'; at: number; generation: number }
  | { kind: 'packed'; container: number; index: number }
  | { kind: 'free' };

/** The cross-references of one revision. They are looked up in the file, so that a million of them take no memory. */
export interface CrossReferences {
  /** The offset of the section. */
  at: number;
  trailer: PdfDict;
  /** Returns the location of an object that this revision adds or frees; undefined for an unchanged object. */
  find(number: number): ObjectPlace | undefined;
  /** Returns the objects that this revision adds or frees, in the order of the section. */
  entries(): Iterable<readonly [number, ObjectPlace]>;
  /** The sections of the revision. A linearized file has two; a hybrid file has a table and a stream. */
  sections: readonly Section[];
}

/** One table or stream. */
export interface Section extends Omit<CrossReferences, 'sections'> {
  /** True if it lists an object twice. Readers differ in which entry they use. */
  repeats: boolean;
  /** True if its data end with the last entry. */
  isComplete: boolean;
  /** True for the stream that a table names in XRefStm. */
  isHybrid?: boolean;
}

/** The maximum number of revisions of a file. */
const MAX_REVISIONS = 512;
const MAX_SUBSECTIONS = 20_000;
const MAX_OBJECTS = 8_400_000;
const ENTRY_BYTES = 20;
const TAIL_BYTES = 2_048;
/** The estimated memory of a subsection, in bytes. */
const SUBSECTION_BYTES = 64;

/** Reads the revisions of a file, newest first. @throws UnreadablePdfError. */
export function readChain(file: PdfBytes): CrossReferences[] {
  const chain: CrossReferences[] = [];
  const seen = new Set<number>();
  for (let at: number | undefined = lastStart(file); at !== undefined; ) {
    if (seen.has(at)) throw new UnreadablePdfError('The cross-references in the file form a cycle.');
    if (seen.size > MAX_REVISIONS) throw new UnreadablePdfError('The file has too many revisions.');
    seen.add(at);
    const revision = withHybrid(file, readSection(file, at));
    const newer = chain.at(-1);
    // In a linearized file, the first section points forward to the rest of the same revision (ISO 32000-1, annex F).
    if (newer !== undefined && at > newer.at) chain[chain.length - 1] = joined(newer, revision);
    else chain.push(revision);
    const previous = revision.trailer.get('Prev');
    at = previous === null ? undefined : offsetOf(previous);
  }
  return chain;
}

function joined(one: CrossReferences, other: CrossReferences): CrossReferences {
  return {
    at: one.at,
    trailer: one.trailer,
    find: (number) => one.find(number) ?? other.find(number),
    *entries() {
      yield* one.entries();
      yield* other.entries();
    },
    sections: [...one.sections, ...other.sections],
  };
}

/** Returns the offset after the last `startxref`. */
function lastStart(file: PdfBytes): number {
  const from = Math.max(0, file.size - TAIL_BYTES);
  const tail = file.read(from, TAIL_BYTES).toString('latin1');
  const offset = /^startxref\s+(\d{1,15})\s/.exec(
    tail.slice(Math.max(0, tail.lastIndexOf('startxref'))),
  )?.[1];
  if (offset === undefined) throw new UnreadablePdfError('The file does not end with startxref.');
  return Number(offset);
}

/** Reads one table or stream. @throws UnreadablePdfError. */
export function readSection(file: PdfBytes, at: number): Section {
  const isTable = /^\s*xref\b/.test(file.read(at, 32).toString('latin1'));
  return isTable ? readTable(file, at) : readStream(file, at);
}

/** Adds the stream with further entries that a table may name for readers that support streams (ISO 32000-1, 7.5.8.4). */
function withHybrid(file: PdfBytes, section: Section): CrossReferences {
  const extra = section.trailer.get('XRefStm');
  if (extra === null) return { ...section, sections: [section] };
  const hidden = readStream(file, offsetOf(extra));
  const isLeftToStream = (place: ObjectPlace | undefined) => place === undefined || place.kind === 'free';
  return {
    ...section,
    find: (number) => {
      const place = section.find(number);
      return isLeftToStream(place) ? (hidden.find(number) ?? place) : place;
    },
    *entries() {
      for (const entry of section.entries())
        if (!isLeftToStream(entry[1]) || hidden.find(entry[0]) === undefined) yield entry;
      yield* hidden.entries();
    },
    sections: [section, { ...hidden, isHybrid: true }],
  };
}

interface Subsection {
  first: number;
  count: number;
  /** The offset of its first entry, in the file or in the unpacked stream. */
  at: number;
}

function readTable(file: PdfBytes, at: number): Section {
  const subsections: Subsection[] = [];
  let next = file.parse(at, (parser) => {
    if (parser.word() !== 'xref')
      throw new UnreadablePdfError('The cross-references are not at the given offset.');
    return parser.position;
  });
  for (;;) {
    const text = file.read(next, 64).toString('latin1');
    const head = /^\s*(\d{1,10})\s+(\d{1,10})\s*?[\r\n ]+(?=\d{10} |\s*trailer|\s*\d)/.exec(text);
    if (head === null) break;
    const [first, count] = [Number(head[1]), Number(head[2])];
    const start = next + head[0].length;
    if (subsections.length > MAX_SUBSECTIONS || first + count > MAX_OBJECTS)
      throw new UnreadablePdfError('The file has too many cross-references.');
    subsections.push({ first, count, at: start });
    next = start + count * ENTRY_BYTES;
  }
  const trailer = file.parse(next, (parser) => {
    if (parser.word() !== 'trailer') throw new UnreadablePdfError('The file has no trailer.');
    return parser.value();
  });
  if (!(trailer instanceof PdfDict)) throw new UnreadablePdfError('The file has an invalid trailer.');
  file.keep(subsections.length * SUBSECTION_BYTES);
  const find = (number: number) => {
    const subsection = holding(number, subsections, file);
    return subsection && tableEntry(file, subsection.at + (number - subsection.first) * ENTRY_BYTES);
  };
  const repeats = overlap(subsections);
  return { at, trailer, find, entries: () => entriesOf(subsections, find), repeats, isComplete: true };
}

function holding(number: number, subsections: readonly Subsection[], file: PdfBytes): Subsection | undefined {
  // Looking up many objects in many subsections takes long even though no bytes are read.
  file.work(subsections.length);
  return subsections.find(({ first, count }) => number >= first && number < first + count);
}

function tableEntry(file: PdfBytes, at: number): ObjectPlace {
  const entry = /^(\d{10}) (\d{5}) ([nf])/.exec(file.read(at, ENTRY_BYTES).toString('latin1'));
  if (entry === null) throw new UnreadablePdfError('The file has an invalid cross-reference entry.');
  if (entry[3] === 'f') return { kind: 'free' };
  return { kind: 'plain', at: Number(entry[1]), generation: Number(entry[2]) };
}

/** Reads a cross-reference stream (ISO 32000-1, 7.5.8). */
function readStream(file: PdfBytes, at: number): Section {
  const { value } = file.parse(at, (parser) => parser.object());
  if (!(value instanceof PdfStream) || nameOf(value.dict.get('Type')) !== 'XRef')
    throw new UnreadablePdfError('The cross-references are not at the given offset.');
  const { dict } = value;
  if (countOf(dict.get('Length')) === undefined)
    throw new UnreadablePdfError('A cross-reference stream has no length.');
  const bytes = unpack(file, value);
  const widths = [dict.get('W')].flat().map(countOf);
  const [type, second, third] = widths;
  if (type === undefined || second === undefined || third === undefined || Math.max(type, second, third) > 8)
    throw new UnreadablePdfError('A cross-reference stream has no field widths.');
  const width = type + second + third;
  const subsections = subsectionsOf(dict, width);
  file.keep(bytes.length + subsections.length * SUBSECTION_BYTES);
  const find = (number: number): ObjectPlace | undefined => {
    const subsection = holding(number, subsections, file);
    const from = subsection === undefined ? -1 : subsection.at + (number - subsection.first) * width;
    if (from < 0 || from + width > bytes.length) return undefined;
    const kind = type === 0 ? 1 : integerAt(bytes, from, type);
    const [one, two] = [integerAt(bytes, from + type, second), integerAt(bytes, from + type + second, third)];
    if (kind === 1) return { kind: 'plain', at: one, generation: two };
    return kind === 2 ? { kind: 'packed', container: one, index: two } : { kind: 'free' };
  };
  return {
    at,
    trailer: dict,
    find,
    entries: () => entriesOf(subsections, find),
    repeats: overlap(subsections),
    isComplete: bytes.length === subsections.reduce((sum, { count }) => sum + count * width, 0),
  };
}

/** Reads an integer of up to 8 bytes. A value above the largest safe integer is beyond the end of any file. */
function integerAt(bytes: Buffer, at: number, length: number): number {
  let value = 0;
  for (let index = 0; index < length; index++) value = value * 256 + (bytes[at + index] ?? 0);
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}

function subsectionsOf(dict: PdfDict, width: number): Subsection[] {
  const size = countOf(dict.get('Size'));
  const index = dict.get('Index') === null ? [0, size ?? -1] : [dict.get('Index')].flat();
  const numbers = index.map((value: PdfValue) => countOf(value));
  if (numbers.length % 2 !== 0 || numbers.length > 2 * MAX_SUBSECTIONS)
    throw new UnreadablePdfError('A cross-reference stream has no index.');
  const subsections: Subsection[] = [];
  let at = 0;
  for (let place = 0; place < numbers.length; place += 2) {
    const [first, count] = [numbers[place], numbers[place + 1]];
    if (first === undefined || count === undefined || first + count > MAX_OBJECTS)
      throw new UnreadablePdfError('The file has too many cross-references.');
    subsections.push({ first, count, at });
    at += count * width;
  }
  return subsections;
}

function* entriesOf(
  subsections: readonly Subsection[],
  find: Section['find'],
): Generator<readonly [number, ObjectPlace]> {
  for (const { first, count } of subsections) {
    for (let number = first; number < first + count; number++) {
      const place = find(number);
      if (place !== undefined) yield [number, place];
    }
  }
}

function overlap(subsections: readonly Subsection[]): boolean {
  const sorted = subsections.filter(({ count }) => count > 0).toSorted((a, b) => a.first - b.first);
  return sorted.some(({ first, count }, index) => (sorted[index + 1]?.first ?? Infinity) < first + count);
}

function offsetOf(value: PdfValue): number {
  const offset = countOf(value);
  if (offset === undefined) throw new UnreadablePdfError('The file refers to an offset beyond its end.');
  return offset;
}
