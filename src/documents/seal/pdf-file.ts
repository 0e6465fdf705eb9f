import { type CrossReferences, type ObjectPlace, readChain } from './cross-references.ts';
import { ended, type PdfBytes } from './pdf-bytes.ts';
import { PdfParser, TruncatedError } from './pdf-parser.ts';
import { countOf, nameOf, PdfRef, PdfStream, type PdfValue, UnreadablePdfError } from './pdf-values.ts';
import { unpack } from './streams.ts';

/** The maximum number of unpacked object streams in memory. Most files have small ones. */
const MAX_CACHED_STREAMS = 8;
/** The maximum size of unpacked object streams in memory, in bytes. */
const UNPACKED_BYTES = 32 * 1024 * 1024;
/** The maximum number of objects in a stream. A few hundred are usual. */
const MAX_PACKED = 200_000;
const MAX_HOPS = 8;

interface UnpackedObjects {
  bytes: Buffer;
  order: readonly number[];
  /** The offsets of the objects in the bytes. */
  offsets: ReadonlyMap<number, number>;
}

/** The objects of a PDF file in each of its revisions. Methods throw UnreadablePdfError. */
export class PdfFile {
  readonly bytes: PdfBytes;
  /** The revisions of the file, newest first. Each has its own cross-references in addition to those of earlier revisions. */
  readonly revisions: readonly CrossReferences[];
  readonly #unpacked = new Map<number, UnpackedObjects>();
  #unpackedBytes = 0;

  constructor(bytes: PdfBytes) {
    this.bytes = bytes;
    this.revisions = readChain(bytes);
  }

  /** Returns the location of an object in a revision (0 is the newest), or undefined if it doesn't exist. */
  placeOf(number: number, revision: number): Exclude<ObjectPlace, { kind: 'free' }> | undefined {
    for (const section of this.revisions.slice(revision)) {
      const place = section.find(number);
      if (place !== undefined) return place.kind === 'free' ? undefined : place;
    }
    return undefined;
  }

  /** Resolves a reference in a revision. Returns null if the object doesn't exist. */
  resolve(value: PdfValue, revision: number): PdfValue {
    let found = value;
    for (let hops = 0; found instanceof PdfRef; hops++) {
      if (hops > MAX_HOPS) throw new UnreadablePdfError('The references in the file form a cycle.');
      found = this.object(found.number, revision);
    }
    return found;
  }

  /** Returns an indirect object in a revision; null if it doesn't exist. */
  object(number: number, revision: number): PdfValue {
    const place = this.placeOf(number, revision);
    if (place === undefined) return null;
    if (place.kind === 'plain') return this.bytes.object(place.at, number);
    const { bytes, offsets } = this.#objectsIn(place.container, revision);
    const at = offsets.get(number);
    return at === undefined ? null : this.#valueIn(bytes, at);
  }

  /** Returns the numbers in the index of an object stream, in its order. */
  packedIn(container: number, revision: number): readonly number[] {
    return this.#objectsIn(container, revision).order;
  }

  #valueIn(bytes: Buffer, at: number): PdfValue {
    const parser = new PdfParser(bytes, { at });
    try {
      return parser.value();
    } catch (error) {
      if (error instanceof TruncatedError) throw new UnreadablePdfError('An object is incomplete.');
      throw error;
    } finally {
      this.bytes.work(parser.position - at);
    }
  }

  #objectsIn(container: number, revision: number): UnpackedObjects {
    const place = this.placeOf(container, revision);
    if (place?.kind !== 'plain') throw new UnreadablePdfError('An object stream is missing.');
    const known = this.#unpacked.get(place.at);
    if (known) return known;
    const stream = this.bytes.object(place.at, container);
    if (!(stream instanceof PdfStream) || nameOf(stream.dict.get('Type')) !== 'ObjStm')
      throw new UnreadablePdfError('An object stream has the wrong type.');
    const unpacked = unpack(this.bytes, stream, (value) => this.resolve(value, revision));
    const objects = indexed(unpacked, stream);
    this.#keep(place.at, objects);
    return objects;
  }

  #keep(at: number, objects: UnpackedObjects): void {
    const size = objects.bytes.length;
    if (this.#unpacked.size >= MAX_CACHED_STREAMS || this.#unpackedBytes + size > UNPACKED_BYTES) {
      this.#unpacked.clear();
      this.#unpackedBytes = 0;
    }
    this.#unpacked.set(at, objects);
    this.#unpackedBytes += size;
  }
}

function indexed(bytes: Buffer, { dict }: PdfStream): UnpackedObjects {
  const [count, first] = [countOf(dict.get('N')), countOf(dict.get('First'))];
  if (count === undefined || first === undefined || first > bytes.length || count > MAX_PACKED)
    throw new UnreadablePdfError('An object stream has no index.');
  const offsets = new Map<number, number>();
  const order: number[] = [];
  const words = bytes
    .toString('latin1', 0, first)
    .trim()
    .split(/\s+/, 2 * count);
  for (let index = 0; index + 1 < words.length; index += 2) {
    const [number, at] = [Number(words[index]), Number(words[index + 1])];
    order.push(number);
    if (!offsets.has(number)) offsets.set(number, first + at);
  }
  return { bytes: ended(bytes), order, offsets };
}
