import type { PdfBytes } from './pdf-bytes.ts';
import { countOf, nameOf, PdfDict, PdfStream, type PdfValue, UnreadablePdfError } from './pdf-values.ts';
import { unpack } from './streams.ts';

/** Where an object stands: in the file, or packed into an object stream. */
export type ObjectPlace =
  | { kind: 'plain'; at: number }
  | { kind: 'packed'; container: number }
  | { kind: 'free' };

/** The cross references of one revision. They are looked up where they stand, so that a million of them costs nothing. */
export interface CrossReferences {
  /** Where they begin in the file. */
  at: number;
  trailer: PdfDict;
  /** The place of an object that this revision brings or frees; undefined for one that it leaves alone. */
  find(number: number): ObjectPlace | undefined;
  /** The numbers of the objects it brings or frees; one stands here twice where two entries contradict each other. */
  numbers(): Iterable<number>;
}

/** How many times a file may have been added to. */
const MAX_REVISIONS = 512;
const MAX_SUBSECTIONS = 20_000;
const MAX_OBJECTS = 8_400_000;
const ENTRY_BYTES = 20;
const TAIL_BYTES = 2_048;
/** What a subsection takes in memory. */
const SUBSECTION_BYTES = 64;

/** The revisions of a file, newest first. @throws UnreadablePdfError. */
export function readChain(file: PdfBytes): CrossReferences[] {
  const chain: CrossReferences[] = [];
  const seen = new Set<number>();
  for (let at: number | undefined = lastStart(file); at !== undefined; ) {
    if (seen.has(at)) throw new UnreadablePdfError('The cross references of the file lead in a circle.');
    if (seen.size > MAX_REVISIONS) throw new UnreadablePdfError('The file was added to too often.');
    seen.add(at);
    const section = readSection(file, at);
    chain.push(withHybrid(file, section));
    const previous = section.trailer.get('Prev');
    at = previous === null ? undefined : offsetOf(previous);
  }
  return chain;
}

/** The offset behind the last `startxref`. */
function lastStart(file: PdfBytes): number {
  const from = Math.max(0, file.size - TAIL_BYTES);
  const tail = file.read(from, TAIL_BYTES).toString('latin1');
  const offset = /^startxref\s+(\d{1,15})\s/.exec(
    tail.slice(Math.max(0, tail.lastIndexOf('startxref'))),
  )?.[1];
  if (offset === undefined) throw new UnreadablePdfError('The file has no startxref at its end.');
  return Number(offset);
}

function readSection(file: PdfBytes, at: number): CrossReferences {
  const isTable = /^\s*xref\b/.test(file.read(at, 32).toString('latin1'));
  return isTable ? readTable(file, at) : readStream(file, at);
}

/** A table may name a stream with further entries, for readers that know streams. */
function withHybrid(file: PdfBytes, section: CrossReferences): CrossReferences {
  const extra = section.trailer.get('XRefStm');
  if (extra === null) return section;
  const hidden = readStream(file, offsetOf(extra));
  const isLeftToStream = (place: ObjectPlace | undefined) => place === undefined || place.kind === 'free';
  return {
    ...section,
    find: (number) => {
      const place = section.find(number);
      return isLeftToStream(place) ? (hidden.find(number) ?? place) : place;
    },
    *numbers() {
      for (const number of section.numbers())
        if (!isLeftToStream(section.find(number)) || hidden.find(number) === undefined) yield number;
      yield* hidden.numbers();
    },
  };
}

interface Subsection {
  first: number;
  count: number;
  /** Of its first entry: in the file, or in the unpacked stream. */
  at: number;
}

function readTable(file: PdfBytes, at: number): CrossReferences {
  const subsections: Subsection[] = [];
  let next = file.parse(at, (parser) => {
    if (parser.word() !== 'xref')
      throw new UnreadablePdfError('The file has no cross references where it says.');
    return parser.position;
  });
  for (;;) {
    const text = file.read(next, 64).toString('latin1');
    const head = /^\s*(\d{1,10})\s+(\d{1,10})\s*?[\r\n ]+(?=\d{10} |\s*trailer|\s*\d)/.exec(text);
    if (head === null) break;
    const [first, count] = [Number(head[1]), Number(head[2])];
    const start = next + head[0].length;
    if (subsections.length > MAX_SUBSECTIONS || first + count > MAX_OBJECTS)
      throw new UnreadablePdfError('The cross references of the file are too many.');
    subsections.push({ first, count, at: start });
    next = start + count * ENTRY_BYTES;
  }
  const trailer = file.parse(next, (parser) => {
    if (parser.word() !== 'trailer') throw new UnreadablePdfError('The file has no trailer where it should.');
    return parser.value();
  });
  if (!(trailer instanceof PdfDict)) throw new UnreadablePdfError('The trailer of the file is none.');
  file.keep(subsections.length * SUBSECTION_BYTES);
  const find = (number: number) => {
    const subsection = holding(number, subsections, file);
    return subsection && tableEntry(file, subsection.at + (number - subsection.first) * ENTRY_BYTES);
  };
  return { at, trailer, find, numbers: () => numbersOf(subsections) };
}

/** The subsection that an object stands in. */
function holding(number: number, subsections: readonly Subsection[], file: PdfBytes): Subsection | undefined {
  // Many objects that are looked up among many subsections take long without a byte being read.
  file.checkTime();
  return subsections.find(({ first, count }) => number >= first && number < first + count);
}

function tableEntry(file: PdfBytes, at: number): ObjectPlace {
  const entry = /^(\d{10}) \d{5} ([nf])/.exec(file.read(at, ENTRY_BYTES).toString('latin1'));
  if (entry === null) throw new UnreadablePdfError('A cross reference of the file is none.');
  return entry[2] === 'f' ? { kind: 'free' } : { kind: 'plain', at: Number(entry[1]) };
}

/** A cross-reference stream (ISO 32000-1, 7.5.8). */
function readStream(file: PdfBytes, at: number): CrossReferences {
  const { value } = file.parse(at, (parser) => parser.object());
  if (!(value instanceof PdfStream) || nameOf(value.dict.get('Type')) !== 'XRef')
    throw new UnreadablePdfError('The file has no cross references where it says.');
  const { dict } = value;
  if (countOf(dict.get('Length')) === undefined)
    throw new UnreadablePdfError('The cross references of the file have no length.');
  const bytes = unpack(file, value);
  const widths = [dict.get('W')].flat().map(countOf);
  const [type, second, third] = widths;
  if (type === undefined || second === undefined || third === undefined || Math.max(type, second, third) > 6)
    throw new UnreadablePdfError('The cross references of the file have no widths.');
  const width = type + second + third;
  const subsections = subsectionsOf(dict, width);
  file.keep(bytes.length + subsections.length * SUBSECTION_BYTES);
  const find = (number: number): ObjectPlace | undefined => {
    const subsection = holding(number, subsections, file);
    const from = subsection === undefined ? -1 : subsection.at + (number - subsection.first) * width;
    if (from < 0 || from + width > bytes.length) return undefined;
    const field = (start: number, length: number) =>
      length === 0 ? 0 : bytes.readUIntBE(from + start, length);
    const kind = type === 0 ? 1 : field(0, type);
    if (kind === 1) return { kind: 'plain', at: field(type, second) };
    return kind === 2 ? { kind: 'packed', container: field(type, second) } : { kind: 'free' };
  };
  return { at, trailer: dict, find, numbers: () => numbersOf(subsections) };
}

function subsectionsOf(dict: PdfDict, width: number): Subsection[] {
  const size = countOf(dict.get('Size'));
  const index = dict.get('Index') === null ? [0, size ?? -1] : [dict.get('Index')].flat();
  const numbers = index.map((value: PdfValue) => countOf(value));
  if (numbers.length % 2 !== 0 || numbers.length > 2 * MAX_SUBSECTIONS)
    throw new UnreadablePdfError('The cross references of the file have no index.');
  const subsections: Subsection[] = [];
  let at = 0;
  for (let place = 0; place < numbers.length; place += 2) {
    const [first, count] = [numbers[place], numbers[place + 1]];
    if (first === undefined || count === undefined || first + count > MAX_OBJECTS)
      throw new UnreadablePdfError('The cross references of the file are too many.');
    subsections.push({ first, count, at });
    at += count * width;
  }
  return subsections;
}

function* numbersOf(subsections: readonly Subsection[]): Generator<number> {
  for (const { first, count } of subsections)
    for (let number = 0; number < count; number++) yield first + number;
}

function offsetOf(value: PdfValue): number {
  const offset = countOf(value);
  if (offset === undefined) throw new UnreadablePdfError('The file points to a place outside itself.');
  return offset;
}
