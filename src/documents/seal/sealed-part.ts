import type { ObjectPlace } from './cross-references.ts';
import type { PdfFile } from './pdf-file.ts';
import { countOf, PdfDict, PdfRef, PdfStream, type PdfValue, UnreadablePdfError } from './pdf-values.ts';

/**
 * Returns why readers could disagree about the sealed content, or undefined if they can't. `sealed` ends where the seal ends.
 * @throws UnreadablePdfError.
 */
export function ambiguityOf(sealed: PdfFile): string | undefined {
  for (const [revision, { sections }] of sealed.revisions.entries()) {
    for (const { trailer, repeats, isHybrid } of sections) {
      if (trailer.repeated.size > 0) return 'a trailer repeats a key';
      if (repeats) return 'a cross-reference section lists an object twice';
      if (isHybrid && contradictsTables(sealed, revision))
        return 'a hybrid cross-reference stream contradicts the tables';
    }
    if (repeatsPacked(sealed, revision))
      return 'an object stream lists an object twice, or at the wrong offset';
  }
  return undefined;
}

/**
 * Returns true if a hybrid file's stream contradicts its tables. Readers differ in which they read first: the table, the stream that it
 * names, or the earlier sections. The order doesn't matter only if the stream just adds objects and has no Prev entry.
 */
function contradictsTables({ revisions }: PdfFile, revision: number): boolean {
  const stream = revisions[revision]?.sections.find(({ isHybrid }) => isHybrid);
  if (stream === undefined || stream.trailer.get('Prev') !== null) return true;
  const others = revisions
    .slice(revision)
    .flatMap(({ sections }) => sections)
    .filter((section) => !section.isHybrid);
  for (const [number, place] of stream.entries()) {
    for (const section of others) {
      const other = section.find(number);
      if (other === undefined) continue;
      const isSame = other.kind === 'plain' && place.kind === 'plain' && other.at === place.at;
      if (other.kind !== 'free' && !isSame) return true;
      break;
    }
  }
  return false;
}

function repeatsPacked(sealed: PdfFile, revision: number): boolean {
  const checked = new Set<number>();
  for (const [number, place] of streamEntries(sealed, revision)) {
    if (place.kind !== 'packed') continue;
    const order = sealed.packedIn(place.container, revision);
    if (order[place.index] !== number) return true;
    if (!checked.has(place.container) && new Set(order).size < order.length) return true;
    checked.add(place.container);
  }
  return false;
}

/**
 * Yields the entries of cross-reference streams. Tables are skipped because they can't list packed objects and may have a million entries.
 */
function* streamEntries({ revisions }: PdfFile, revision: number): Generator<readonly [number, ObjectPlace]> {
  for (const section of revisions[revision]?.sections ?? [])
    if (section.trailer.get('Type') !== null) yield* section.entries();
}

/**
 * Returns the numbers of objects that are reachable from the trailer but missing in the sealed part. Adding such an object later would
 * change what readers show.
 * @throws UnreadablePdfError if an object isn't complete within the sealed part.
 */
export function missingIn(sealed: PdfFile): ReadonlySet<number> {
  const missing = new Set<number>();
  const seen = new Set<number>();
  const waiting: PdfValue[] = sealed.revisions
    .flatMap(({ sections }) => sections)
    .flatMap(({ trailer }) => [...trailer.entries.values()]);
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (value instanceof PdfRef) {
      if (seen.has(value.number)) continue;
      seen.add(value.number);
      if (isInUse(sealed, value.number)) waiting.push(sealed.object(value.number, 0));
      else missing.add(value.number);
    } else if (value instanceof PdfStream) {
      requireEnd(sealed, value);
      waiting.push(value.dict);
    } else if (value instanceof PdfDict) {
      // Only the last value of a repeated key is kept here, but other readers may use another one.
      if (value.repeated.size > 0) throw new UnreadablePdfError('A dictionary repeats a key.');
      waiting.push(...value.entries.values());
    } else if (Array.isArray(value)) waiting.push(...value);
  }
  return missing;
}

/** Returns true if the sealed part has the object. Readers ignore object numbers at or above the trailer's Size. */
export function isInUse(sealed: PdfFile, number: number): boolean {
  const size = countOf(sealed.revisions[0]?.trailer.get('Size') ?? null) ?? 0;
  return number < size && sealed.placeOf(number, 0) !== undefined;
}

/** Checks that a stream ends in the sealed part. Otherwise, its data would come from bytes added later. */
function requireEnd(sealed: PdfFile, { dict, start }: PdfStream): void {
  const length = countOf(sealed.resolve(dict.get('Length'), 0));
  const after = length === undefined ? '' : sealed.bytes.read(start + length, 16).toString('latin1');
  if (!/^\s*endstream/.test(after)) throw new UnreadablePdfError('A stream has the wrong length.');
}
