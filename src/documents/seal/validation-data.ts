import { isDer } from './asn1.ts';
import type { PdfBytes } from './pdf-bytes.ts';
import type { PdfFile } from './pdf-file.ts';
import {
  countOf,
  isSame,
  isSameDict,
  nameOf,
  PdfDict,
  PdfRef,
  PdfStream,
  PdfString,
  type PdfValue,
  UnreadablePdfError,
} from './pdf-values.ts';
import { isInUse, missingIn } from './sealed-part.ts';
import { catalogOf, isTimeStamp, type Signature } from './signatures.ts';
import { unpack } from './streams.ts';
import { readUpdates, type Update } from './updates.ts';

/**
 * Returns true if everything after the sealed part is validation data (ISO 32000-2, 12.8.4.3 and 12.8.5): certificates, revocations, and
 * document timestamps, none of which change what readers show. Returns false in case of doubt.
 */
export function addsOnlyValidationData(
  bytes: PdfBytes,
  sealed: PdfFile,
  signatures: readonly Signature[],
): boolean {
  const [newest] = sealed.revisions;
  if (newest === undefined || newest.trailer.get('Encrypt') !== null) return false;
  try {
    const updates = readUpdates(bytes, sealed.bytes.size, newest);
    const review = new UpdateReview(bytes, sealed, signatures);
    for (const update of updates) review.check(update);
    const missing = missingIn(sealed);
    return updates.every(({ objects, containers }) =>
      [...objects.keys(), ...containers].every((number) => !missing.has(number)),
    );
  } catch (error) {
    if (error instanceof UnreadablePdfError) return false;
    throw error;
  }
}

/** The roles of objects that a later update may overwrite. */
const CHANGEABLE = ['catalog', 'form', 'fields', 'store', 'list', 'perSignature', 'entry'] as const;

/** The purpose of an added object. It never changes, because the object could still be displayed through an earlier reference. */
type Role =
  | (typeof CHANGEABLE)[number]
  | 'evidence'
  | 'extensions'
  | 'field'
  | 'stamp'
  | 'appearances'
  | 'appearance'
  | 'container';

const STORE_KEYS = ['Type', 'Certs', 'OCSPs', 'CRLs', 'VRI'];
const EVIDENCE_KEYS = ['Length', 'Filter', 'DecodeParms'];
const EXTENSION_KEYS = ['Type', 'BaseVersion', 'ExtensionLevel', 'ExtensionRevision', 'URL'];
const FIELD_KEYS = ['Type', 'Subtype', 'FT', 'V', 'T', 'F', 'Rect', 'P', 'Ff', 'AP'];
const APPEARANCE_KEYS = ['Type', 'Subtype', 'FormType', 'BBox', 'Matrix', 'Resources', ...EVIDENCE_KEYS];

/** Walks each update from the catalog down. Every object that the update adds must have exactly one role. */
class UpdateReview {
  readonly #bytes: PdfBytes;
  readonly #sealed: PdfFile;
  readonly #root: PdfValue;
  readonly #stamps: ReadonlyMap<number, Signature>;
  readonly #roles = new Map<number, Role>();
  #catalog: PdfDict;
  #form: PdfDict;
  #fields: readonly PdfValue[];
  #update: Update = { end: 0, next: 0, objects: new Map(), containers: new Set() };
  #claimed = new Set<number>();

  constructor(bytes: PdfBytes, sealed: PdfFile, signatures: readonly Signature[]) {
    this.#bytes = bytes;
    this.#sealed = sealed;
    this.#root = sealed.revisions[0]?.trailer.get('Root') ?? null;
    this.#stamps = new Map(signatures.filter(isTimeStamp).map((one) => [one.object, one]));
    this.#catalog = catalogOf(sealed, 0);
    const form = this.#catalog.get('AcroForm');
    this.#form = dictOf(sealed.resolve(form, 0));
    const fields = this.#form.get('Fields');
    this.#fields = listOf(sealed.resolve(fields, 0));
    for (const [value, role] of [
      [this.#root, 'catalog'],
      [form, 'form'],
      [fields, 'fields'],
    ] as const)
      if (value instanceof PdfRef) this.#roles.set(value.number, role);
  }

  /** Checks an update. @throws UnreadablePdfError if it adds anything but validation data. */
  check(update: Update): void {
    this.#update = update;
    this.#claimed = new Set();
    for (const number of update.containers) {
      requireSupported(!this.#roles.has(number) && !isInUse(this.#sealed, number));
      this.#roles.set(number, 'container');
    }
    const [before, now] = [this.#catalog, dictOf(this.#claim(this.#root, 'catalog') ?? this.#catalog)];
    requireSupported(isSameDict(now, before, ['DSS', 'Extensions', 'AcroForm']));
    this.#checkForm(now.get('AcroForm'), before.get('AcroForm'));
    this.#checkStore(now.get('DSS'));
    this.#checkExtensions(now.get('Extensions'));
    this.#catalog = now;
    requireSupported(update.objects.size === this.#claimed.size);
  }

  /** Assigns a role to an object. Returns the value to check if this update adds it, or undefined if the object existed before. */
  #claim(value: PdfValue, role: Role): PdfValue | undefined {
    if (!(value instanceof PdfRef)) return value;
    const known = this.#roles.get(value.number);
    const isSealed = isInUse(this.#sealed, value.number);
    requireSupported(known === undefined || known === role);
    const added = this.#update.objects.get(value.number);
    if (added === undefined) {
      requireSupported(known !== undefined || isSealed);
      return undefined;
    }
    const isNew = known === undefined && !isSealed;
    const isClaimedHere = this.#claimed.has(value.number);
    requireSupported(
      value.generation === 0 &&
        (isNew || isClaimedHere || (known !== undefined && CHANGEABLE.some((one) => one === role))),
    );
    this.#roles.set(value.number, role);
    this.#claimed.add(value.number);
    return added;
  }

  /** Checks that the form only gains fields of document timestamps. */
  #checkForm(value: PdfValue, earlier: PdfValue): void {
    requireSupported(value instanceof PdfRef ? isSame(value, earlier) : !(earlier instanceof PdfRef));
    const [before, now] = [this.#form, dictOf(this.#claim(value, 'form') ?? this.#form)];
    requireSupported(isSameDict(now, before, ['Fields', 'SigFlags']));
    requireSupported(
      isSame(now.get('SigFlags'), before.get('SigFlags')) ||
        [1, 3].includes(countOf(now.get('SigFlags')) ?? 0),
    );
    const [list, known] = [now.get('Fields'), before.get('Fields')];
    requireSupported(list instanceof PdfRef ? isSame(list, known) : !(known instanceof PdfRef));
    const fields = listOf(this.#claim(list, 'fields') ?? [...this.#fields]);
    requireSupported(isSame(fields.slice(0, this.#fields.length), [...this.#fields]));
    for (const field of fields.slice(this.#fields.length)) this.#checkField(field);
    this.#form = now;
    this.#fields = fields;
  }

  /** Checks the field of a document timestamp, which must not display anything. */
  #checkField(value: PdfValue): void {
    requireSupported(value instanceof PdfRef);
    const field = dictOf(this.#claim(value, 'field'));
    requireSupported(
      hasOnly(field, FIELD_KEYS) && nameOf(field.get('FT')) === 'Sig' && field.get('T') instanceof PdfString,
    );
    requireSupported(isNoneOr('Annot', field.get('Type')) && isNoneOr('Widget', field.get('Subtype')));
    requireSupported(
      ['F', 'Ff'].every((key) => field.get(key) === null || countOf(field.get(key)) !== undefined),
    );
    const rect = field.get('Rect');
    requireSupported(rect === null || isPoint(rect));
    const page = field.get('P');
    requireSupported(page === null || (page instanceof PdfRef && isInUse(this.#sealed, page.number)));
    this.#checkStamp(field.get('V'));
    this.#checkAppearances(field.get('AP'));
  }

  /** Checks that a timestamp covers its whole revision. Its own signature is checked with the others. */
  #checkStamp(value: PdfValue): void {
    const stamp = value instanceof PdfRef ? this.#stamps.get(value.number) : undefined;
    const end = stamp?.problem === undefined ? (stamp?.range?.end ?? 0) : 0;
    requireSupported(end >= this.#update.end && end <= this.#update.next);
    requireSupported(isPlain(dictOf(this.#claim(value, 'stamp'))));
  }

  #checkAppearances(value: PdfValue): void {
    if (value === null) return;
    const appearances = dictOf(this.#claim(value, 'appearances'));
    const form = appearances.get('N');
    requireSupported(hasOnly(appearances, ['N']) && form instanceof PdfRef);
    const stream = this.#claim(form, 'appearance');
    requireSupported(
      stream instanceof PdfStream && hasOnly(stream.dict, APPEARANCE_KEYS) && isPlain(stream.dict),
    );
    requireSupported(unpack(this.#bytes, stream).toString('latin1').trim() === '');
  }

  /** Checks the document security store (ISO 32000-2, 12.8.4.3). */
  #checkStore(value: PdfValue): void {
    const store = this.#claim(value, 'store');
    if (store === undefined || store === null) return;
    const dict = dictOf(store);
    requireSupported(hasOnly(dict, STORE_KEYS) && isNameOrNone(dict.get('Type')));
    for (const key of ['Certs', 'OCSPs', 'CRLs']) this.#checkList(dict.get(key));
    const perSignature = this.#claim(dict.get('VRI'), 'perSignature');
    if (perSignature === undefined || perSignature === null) return;
    for (const [key, entry] of dictOf(perSignature).entries) if (key !== 'Type') this.#checkEntry(entry);
  }

  #checkEntry(value: PdfValue): void {
    const entry = this.#claim(value, 'entry');
    if (entry === undefined) return;
    for (const [key, part] of dictOf(entry).entries) {
      if (['Cert', 'CRL', 'OCSP'].includes(key)) this.#checkList(part);
      else if (key === 'TS') this.#checkEvidence(part);
      else if (key === 'TU') requireSupported(part instanceof PdfString);
      else requireSupported(key === 'Type' && isNameOrNone(part));
    }
  }

  #checkList(value: PdfValue): void {
    const list = this.#claim(value, 'list');
    if (list === undefined || list === null) return;
    for (const one of listOf(list)) this.#checkEvidence(one);
  }

  /** Checks that a stream contains exactly one ASN.1 element. */
  #checkEvidence(value: PdfValue): void {
    requireSupported(value instanceof PdfRef);
    const stream = this.#claim(value, 'evidence');
    if (stream === undefined) return;
    requireSupported(
      stream instanceof PdfStream && hasOnly(stream.dict, EVIDENCE_KEYS) && isPlain(stream.dict),
    );
    requireSupported(isDer(unpack(this.#bytes, stream)));
  }

  #checkExtensions(value: PdfValue): void {
    const extensions = this.#claim(value, 'extensions');
    if (extensions === undefined || extensions === null) return;
    for (const [key, one] of dictOf(extensions).entries) {
      if (key === 'Type') requireSupported(nameOf(one) === 'Extensions');
      else
        for (const extension of Array.isArray(one) ? one : [one])
          requireSupported(hasOnly(dictOf(extension), EXTENSION_KEYS) && isPlain(extension));
    }
  }
}

function requireSupported(condition: boolean): asserts condition {
  if (!condition) throw new UnreadablePdfError('The additions contain more than validation data.');
}

function dictOf(value: PdfValue | undefined): PdfDict {
  requireSupported(value instanceof PdfDict && value.repeated.size === 0);
  return value;
}

function listOf(value: PdfValue): readonly PdfValue[] {
  requireSupported(Array.isArray(value));
  return value;
}

function hasOnly({ entries }: PdfDict, keys: readonly string[]): boolean {
  return [...entries.keys()].every((key) => keys.includes(key));
}

function isNameOrNone(value: PdfValue): boolean {
  return value === null || nameOf(value) !== undefined;
}

function isNoneOr(name: string, value: PdfValue): boolean {
  return value === null || nameOf(value) === name;
}

/** Returns true for a rectangle without area. */
function isPoint(value: PdfValue): boolean {
  const [left, bottom, ...rest] = Array.isArray(value) ? value : [];
  return typeof left === 'number' && typeof bottom === 'number' && isSame(rest, [left, bottom]);
}

/** Returns true for a value that contains no references. */
function isPlain(value: PdfValue): boolean {
  if (value instanceof PdfRef || value instanceof PdfStream) return false;
  if (Array.isArray(value)) return value.every(isPlain);
  return !(value instanceof PdfDict) || [...value.entries.values()].every(isPlain);
}
