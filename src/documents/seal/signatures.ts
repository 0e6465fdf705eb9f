import { UnreadableSignatureError } from './asn1.ts';
import type { PdfFile } from './pdf-file.ts';
import {
  countOf,
  nameOf,
  PdfDict,
  PdfRef,
  PdfString,
  type PdfValue,
  UnreadablePdfError,
} from './pdf-values.ts';

/** The maximum number of form fields, because a malicious file may have any number of them. */
const MAX_FIELDS = 200_000;

/** A signature as described by its dictionary, and the problem if the description is invalid. */
export interface Signature {
  /** The object number of the dictionary, which identifies a signature. */
  object: number;
  /** For example ETSI.CAdES.detached; may be empty. */
  subFilter: string;
  /** The DER, including any bytes after it. */
  contents: Buffer;
  /** The number of bytes before the gap, and the start and end of the part after it. */
  range: { gapStart: number; gapEnd: number; end: number } | undefined;
  /** Why the range is invalid; undefined if it leaves out only the signature itself. */
  problem: string | undefined;
  /** The signing time in the dictionary, ISO 8601. Like the time in the signature, it is only claimed by the signer. */
  claimedTime: string | undefined;
}

/** Returns true for a document timestamp, which shows when, not who. */
export function isTimeStamp({ subFilter }: Signature): boolean {
  return subFilter === 'ETSI.RFC3161';
}

/**
 * Returns the signatures of all revisions, each once, ordered by their end in the file. A signature that a later revision drops still shows
 * what the file was. @throws UnreadablePdfError.
 */
export function signaturesOf(file: PdfFile): Signature[] {
  const found = new Map<string, Signature>();
  for (const revision of file.revisions.keys()) {
    for (const [object, dict] of signatureDictionaries(file, revision)) {
      const signature = describe(object, dict, file.bytes.size);
      found.set(`${object} ${signature.range?.gapStart ?? 'none'}`, signature);
    }
  }
  return [...found.values()].sort((a, b) => (a.range?.end ?? 0) - (b.range?.end ?? 0));
}

export function catalogOf(file: PdfFile, revision: number): PdfDict {
  const root = file.revisions[revision]?.trailer.get('Root') ?? null;
  const catalog = file.resolve(root, revision);
  if (!(catalog instanceof PdfDict)) throw new UnreadablePdfError('The file has no catalog.');
  return catalog;
}

function* signatureDictionaries(file: PdfFile, revision: number): Generator<[number, PdfDict]> {
  for (const { field, type } of fieldsOf(file, revision)) {
    const value = field.get('V');
    const dict = type === 'Sig' ? file.resolve(value, revision) : null;
    if (dict === null) continue;
    const isPlain = value instanceof PdfRef && file.placeOf(value.number, revision)?.kind === 'plain';
    if (!isPlain || !(dict instanceof PdfDict))
      throw new UnreadableSignatureError('it is not a direct object in the file');
    yield [value.number, dict];
  }
}

/** Yields every form field, parents before children, without recursion. */
function* fieldsOf(file: PdfFile, revision: number): Generator<{ field: PdfDict; type: string | undefined }> {
  const form = file.resolve(catalogOf(file, revision).get('AcroForm'), revision);
  if (!(form instanceof PdfDict)) return;
  // The fields that have not been visited yet, and the types they inherit.
  const waiting: { value: PdfValue; type?: string | undefined }[] = [];
  for (const value of listOf(file, form.get('Fields'), revision)) waiting.push({ value });
  const seen = new Set<number>();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (isKnown(next.value, seen)) continue;
    if (seen.size + waiting.length > MAX_FIELDS)
      throw new UnreadablePdfError('The form in the file has too many fields.');
    const field = file.resolve(next.value, revision);
    if (!(field instanceof PdfDict)) continue;
    const type = nameOf(file.resolve(field.get('FT'), revision)) ?? next.type;
    for (const value of listOf(file, field.get('Kids'), revision)) waiting.push({ value, type });
    yield { field, type };
  }
}

/** Records a reference. Returns true if it was already recorded. */
function isKnown(value: PdfValue, seen: Set<number>): boolean {
  if (!(value instanceof PdfRef)) return false;
  const known = seen.has(value.number);
  seen.add(value.number);
  return known;
}

function listOf(file: PdfFile, value: PdfValue, revision: number): PdfValue[] {
  const list = file.resolve(value, revision);
  return Array.isArray(list) ? list : [];
}

function describe(object: number, dict: PdfDict, size: number): Signature {
  const contents = dict.get('Contents');
  const range = rangeOf(dict.get('ByteRange'));
  const time = dict.get('M');
  return {
    object,
    subFilter: nameOf(dict.get('SubFilter')) ?? '',
    contents: contents instanceof PdfString ? contents.bytes : Buffer.alloc(0),
    range,
    problem: problemWith(dict, range, size),
    claimedTime: time instanceof PdfString ? isoTime(time.bytes.toString('latin1')) : undefined,
  };
}

/** Parses a PDF date (ISO 32000-1, 7.9.4), such as `D:20260301102030+01'00'`. Returns undefined for anything else. */
function isoTime(text: string): string | undefined {
  const form = /^D:(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:Z.*|([+-])(\d\d)'?(\d\d)?'?)?$/;
  const [, year, month, day, hour, minute, second, sign, hours, minutes] = form.exec(text) ?? [];
  const zone = sign === undefined ? 'Z' : `${sign}${hours}:${minutes ?? '00'}`;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`);
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}

function rangeOf(value: PdfValue): Signature['range'] {
  if (!Array.isArray(value) || value.length !== 4) return undefined;
  const [start, first, second, length] = value.map(countOf);
  if (start !== 0 || first === undefined || second === undefined || length === undefined) return undefined;
  return { gapStart: first, gapEnd: second, end: second + length };
}

function problemWith(dict: PdfDict, range: Signature['range'], size: number): string | undefined {
  if (dict.repeated.size > 0) return `its dictionary has ${[...dict.repeated].join(', ')} more than once`;
  const contents = dict.get('Contents');
  if (!(contents instanceof PdfString) || !contents.isHex || contents.bytes.length === 0)
    return 'it has no Contents to check';
  if (range === undefined) return 'its ByteRange does not have two parts, the first at the start of the file';
  if (range.end > size) return 'its ByteRange extends beyond the file';
  if (range.gapStart !== contents.start || range.gapEnd !== contents.end)
    return 'its ByteRange excludes more than its Contents';
  return undefined;
}
