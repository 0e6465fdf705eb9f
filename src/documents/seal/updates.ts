import { type CrossReferences, readSection, type Section } from './cross-references.ts';
import {
  HIDDEN_STRUCTURE,
  MAX_OBJECTS,
  packedObjects,
  parseComplete,
  requireSupported,
} from './object-streams.ts';
import { ended, type PdfBytes } from './pdf-bytes.ts';
import { PdfParser } from './pdf-parser.ts';
import { countOf, isSame, nameOf, PdfDict, PdfStream, PdfString, type PdfValue } from './pdf-values.ts';

/** The maximum size of additions to a sealed file. Revocation lists can take several megabytes. */
const MAX_ADDED_BYTES = 32 * 1024 * 1024;

const LINE_END = String.raw`(?:\r\n|\n|\r)`;
const rule = (pattern: string) => new RegExp(pattern.replaceAll('EOL', LINE_END), 'y');
const GRAMMAR = {
  gap: rule('EOL{0,2}'),
  header: rule(String.raw`([1-9]\d{0,6}) 0 obj(?=[\r\n <[])`),
  endobj: rule('(?:EOL| )?endobj'),
  stream: rule(String.raw`(?:EOL| )?stream\r?\n`),
  endstream: rule('EOL?endstreamEOLendobj'),
  lineEnd: rule('EOL'),
  table: rule('xrefEOL'),
  subsection: rule(String.raw`(0|[1-9]\d{0,6}) ([1-9]\d{0,4}) ?EOL`),
  entry: rule(String.raw`(?:\d{10} 00000 n|0000000000 65535 f)(?: \r| \n|\r\n)`),
  trailer: rule('trailer(?:EOL| )?'),
  end: rule(String.raw`startxrefEOL(0|[1-9]\d{0,14})EOL%%EOF`),
};
/** The required end of the sealed part, so that an update can't change the meaning of its last line. */
const SEALED_END = /startxref\s+(\d{1,15})\s+%%EOF(\r\n|\n|\r)?$/;
export interface Update {
  /** The offset after its `%%EOF` and the line ends that follow. */
  end: number;
  next: number;
  objects: ReadonlyMap<number, PdfValue>;
  /** The object numbers of object streams and the cross-reference stream. Nothing may refer to them. */
  containers: ReadonlySet<number>;
}

interface Added {
  at: number;
  value: PdfValue;
  hasPlainNumbers: boolean;
}

/**
 * Reads the bytes after the sealed part as incremental updates, with a grammar that is unambiguous and accounts for every byte (ISO
 * 32000-1, 7.5.6). `sealed` is the newest revision of the sealed part.
 * @throws UnreadablePdfError for anything else.
 */
export function readUpdates(bytes: PdfBytes, sealedEnd: number, sealed: CrossReferences): Update[] {
  requireSupported(bytes.size - sealedEnd <= MAX_ADDED_BYTES, 'too much');
  const before = bytes.read(sealedEnd - 64, 64).toString('latin1');
  const [, startxref, lineEnd] = SEALED_END.exec(before) ?? [];
  requireSupported(Number(startxref) === sealed.at, 'the earlier part does not end with its startxref');
  const tail = new Tail(bytes, sealedEnd);
  if (lineEnd === undefined) tail.expect('lineEnd');
  const updates: Update[] = [];
  for (let previous: Previous = sealed; !tail.isAtEnd; ) {
    tail.take('gap');
    requireSupported(!tail.isAtEnd, 'nothing but white space');
    const { section, update } = readUpdate(bytes, tail, previous);
    updates.push(update);
    previous = section;
  }
  return updates;
}

type Previous = Pick<Section, 'at' | 'trailer'>;

function readUpdate(bytes: PdfBytes, tail: Tail, previous: Previous): { section: Section; update: Update } {
  const added = new Map<number, Added>();
  for (let one = tail.object(); one !== undefined; one = tail.object()) {
    requireSupported(
      !added.has(one.number) && added.size < MAX_OBJECTS,
      'duplicate objects, or too many objects',
    );
    added.set(one.number, one);
  }
  const table = tail.position;
  const isTable = tail.take('table') !== undefined;
  const [number = 0, last] = [...added].at(-1) ?? [];
  const isStream = last?.value instanceof PdfStream && nameOf(last.value.dict.get('Type')) === 'XRef';
  const at = isTable ? table : (last?.at ?? -1);
  const hasPlainNumbers = isTable ? tail.table() : last?.hasPlainNumbers === true;
  requireSupported(hasPlainNumbers && isTable !== isStream, 'unsupported cross-reference section');
  requireSupported(Number(tail.expect('end')[1]) === at, 'startxref points to a different section');
  const end = tail.position;
  if (!tail.isAtEnd) tail.expect('lineEnd');
  tail.take('lineEnd');
  const section = readSection(bytes, at);
  const listed = listedObjects(bytes, { section, added, own: isStream ? number : undefined });
  checkTrailer(section.trailer, { previous, isStream, highest: highestOf(listed) });
  return { section, update: { end, next: tail.position, ...listed } };
}

type Listed = Pick<Update, 'objects' | 'containers'>;

interface Listing {
  section: Section;
  added: ReadonlyMap<number, Added>;
  /** The object number of the cross-reference stream, which may be unlisted. */
  own: number | undefined;
}

/** Returns the objects of an update. Its cross-references must list every one of them. */
function listedObjects(bytes: PdfBytes, { section, added, own }: Listing): Listed {
  requireSupported(
    section.isComplete && !section.repeats,
    'duplicate objects, or an incorrect cross-reference size',
  );
  const objects = new Map<number, PdfValue>();
  const packed = new Map<number, Packed[]>();
  for (const [number, place] of section.entries()) {
    if (place.kind === 'plain') {
      const found = added.get(number);
      requireSupported(found?.at === place.at && place.generation === 0, 'object listed at the wrong offset');
      objects.set(number, found.value);
    } else if (place.kind === 'packed') {
      requireSupported(!added.has(number), 'object listed at the wrong offset');
      packed.set(place.container, [...(packed.get(place.container) ?? []), { number, index: place.index }]);
    } else requireSupported(number === 0, 'deleted object');
  }
  requireSupported(
    [...added.keys()].every((number) => number === own || objects.has(number)),
    'object without a cross-reference',
  );
  const containers = new Set([...packed.keys(), ...(own === undefined ? [] : [own])]);
  for (const [container, entries] of packed)
    unpackInto(objects, { bytes, entries, holder: added.get(container) });
  for (const container of containers) objects.delete(container);
  return { objects, containers };
}

interface Packed {
  number: number;
  index: number;
}

/** Adds the objects of an object stream, each of which must be listed with its number and index. */
function unpackInto(
  objects: Map<number, PdfValue>,
  { bytes, entries, holder }: { bytes: PdfBytes; entries: readonly Packed[]; holder: Added | undefined },
): void {
  requireSupported(holder?.value instanceof PdfStream && holder.hasPlainNumbers, 'missing object stream');
  const found = packedObjects(bytes, holder.value);
  requireSupported(found.length === entries.length, 'unexpected objects in an object stream');
  for (const { number, index } of entries) {
    const one = found[index];
    requireSupported(
      one?.number === number && !objects.has(number),
      'unexpected objects in an object stream',
    );
    objects.set(number, one.value);
  }
}

function highestOf({ objects, containers }: Listed): number {
  return [...objects.keys(), ...containers].reduce((highest, number) => Math.max(highest, number), 0);
}

const TRAILER_KEYS = new Set(['Size', 'Prev', 'Root', 'Info', 'ID']);
const STREAM_KEYS = new Set([...TRAILER_KEYS, 'Type', 'W', 'Index', 'Length', 'Filter', 'DecodeParms']);

/** Checks that a trailer adds nothing new. */
function checkTrailer(
  trailer: PdfDict,
  { previous, isStream, highest }: { previous: Previous; isStream: boolean; highest: number },
): void {
  const allowed = isStream ? STREAM_KEYS : TRAILER_KEYS;
  const size = Math.max(countOf(previous.trailer.get('Size')) ?? 0, highest + 1);
  requireSupported(
    [...trailer.entries.keys()].every((key) => allowed.has(key)),
    'unexpected key in the trailer',
  );
  requireSupported(
    trailer.get('Prev') === previous.at && trailer.get('Size') === size,
    'unexpected Prev or Size',
  );
  requireSupported(isSame(trailer.get('Root'), previous.trailer.get('Root')), 'changed Root');
  requireSupported(isSame(trailer.get('Info'), previous.trailer.get('Info')), 'changed Info');
  requireSupported(isIdentifier(trailer.get('ID')), 'invalid ID');
}

function isIdentifier(value: PdfValue): boolean {
  if (value === null) return true;
  return Array.isArray(value) && value.length === 2 && value.every((one) => one instanceof PdfString);
}

/** The bytes after the sealed part, read from left to right. */
class Tail {
  readonly #bytes: Buffer;
  readonly #text: string;
  readonly #start: number;
  #at = 0;

  constructor(bytes: PdfBytes, start: number) {
    this.#start = start;
    const added = bytes.read(start, bytes.size - start);
    bytes.work(added.length);
    this.#text = added.toString('latin1');
    this.#bytes = ended(added);
  }

  /** The offset in the file. */
  get position(): number {
    return this.#start + this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  take(name: keyof typeof GRAMMAR): RegExpExecArray | undefined {
    const pattern = GRAMMAR[name];
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text) ?? undefined;
    if (found !== undefined) this.#at = pattern.lastIndex;
    return found;
  }

  expect(name: keyof typeof GRAMMAR): RegExpExecArray {
    const found = this.take(name);
    requireSupported(found !== undefined, `missing ${name}`);
    return found;
  }

  /** Reads `5 0 obj … endobj` and the line ends after it. Returns undefined if no object starts here. */
  object(): ({ number: number } & Added) | undefined {
    const at = this.position;
    const head = this.take('header');
    if (head === undefined) return undefined;
    const { value, hasPlainNumbers } = this.#value();
    const body = this.#at;
    this.#requirePlain(head[0].length + at - this.#start, body);
    const found = { number: Number(head[1]), at, hasPlainNumbers };
    if (!(value instanceof PdfDict) || this.take('stream') === undefined) {
      this.expect('endobj');
      this.#lineEnds();
      return { ...found, value };
    }
    const length = countOf(value.get('Length'));
    const start = this.position;
    requireSupported(length !== undefined, 'stream without a length');
    this.#requirePlain(this.#at, this.#at + length);
    this.#at += length;
    this.expect('endstream');
    this.#lineEnds();
    return { ...found, value: new PdfStream(value, start) };
  }

  /** Reads a table up to the end of its trailer. Returns true if the trailer has only plain numbers. */
  table(): boolean {
    let entries = 0;
    for (let head = this.expect('subsection'); ; ) {
      const count = Number(head[2]);
      entries += count;
      requireSupported(entries <= MAX_OBJECTS, 'too many objects');
      for (let index = 0; index < count; index++) this.expect('entry');
      const next = this.take('subsection');
      if (next === undefined) break;
      head = next;
    }
    this.expect('trailer');
    const { hasPlainNumbers } = this.#value();
    this.expect('lineEnd');
    return hasPlainNumbers;
  }

  #value(): { value: PdfValue; hasPlainNumbers: boolean } {
    const parser = new PdfParser(this.#bytes, { offset: this.#start, at: this.#at, isStrict: true });
    const value = parseComplete(() => parser.value());
    this.#at = parser.position - this.#start;
    return { value, hasPlainNumbers: parser.hasPlainNumbers };
  }

  #lineEnds(): void {
    this.expect('lineEnd');
    this.take('lineEnd');
  }

  #requirePlain(from: number, to: number): void {
    const isPlain = to <= this.#text.length && !HIDDEN_STRUCTURE.test(this.#text.slice(from, to));
    requireSupported(isPlain, 'file structure inside an object');
  }
}
