import { X509Certificate } from 'node:crypto';
import { Element } from './asn1.ts';
import type { PdfFile } from './pdf-file.ts';
import { isSame, isSameDict, nameOf, PdfDict, PdfRef, PdfStream, type PdfValue } from './pdf-values.ts';
import { catalogOf, isTimeStamp, type Signature } from './signatures.ts';

/** Objects that one revision may bring; validation data are some dozens. */
const MAX_OBJECTS = 10_000;

/**
 * True when all that was added behind a signature is validation data (ISO 32000-2, 12.8.4.3 and 12.8.5): certificates,
 * revocations and document time stamps, by which nothing that is shown changes. Whatever is not known to be that is not.
 */
export function addsOnlyValidationData(
  file: PdfFile,
  signedEnd: number,
  signatures: readonly Signature[],
): boolean {
  const signed = file.revisions.findIndex(({ at }) => at < signedEnd);
  if (signed < 1 || !endsPlainly(file) || !beginsPlainly(file, signedEnd, signed)) return false;
  const stamps = new Set(
    signatures
      .filter((one) => isTimeStamp(one) && (one.range?.gapStart ?? 0) > signedEnd)
      .map(({ object }) => object),
  );
  for (let revision = signed - 1; revision >= 0; revision--) {
    if (!new Addition(file, revision, stamps).isHarmless()) return false;
  }
  return true;
}

/** Nothing but the end of a line follows the last `%%EOF`. */
function endsPlainly({ bytes }: PdfFile): boolean {
  const tail = bytes.read(Math.max(0, bytes.size - 64), 64).toString('latin1');
  return /startxref\s+\d+\s+%%EOF[\r\n]{0,2}$/.test(tail);
}

/** The first thing behind the signed part is an object of the next revision. */
function beginsPlainly(file: PdfFile, signedEnd: number, signed: number): boolean {
  const starts: number[] = file.revisions.slice(0, signed).map(({ at }) => at);
  for (const section of file.revisions.slice(0, signed)) {
    const met = new Set<number>();
    for (const number of section.numbers()) {
      // Of two entries for an object some readers take the first one, and some the last.
      if (met.has(number) || met.size >= MAX_OBJECTS) return false;
      met.add(number);
      const place = section.find(number);
      if (place?.kind === 'plain') starts.push(place.at);
    }
  }
  const first = Math.min(...starts.filter((at) => at >= signedEnd));
  const isInside = starts.every((at) => at >= signedEnd);
  return (
    isInside &&
    first - signedEnd < 64 &&
    file.bytes
      .read(signedEnd, first - signedEnd)
      .toString('latin1')
      .trim() === ''
  );
}

/** What one revision adds to the one before it. */
class Addition {
  readonly #file: PdfFile;
  readonly #revision: number;
  readonly #stamps: ReadonlySet<number>;
  /** Objects that the revision brings and that are accounted for. */
  readonly #known = new Set<number>();
  readonly #brought = new Set<number>();

  constructor(file: PdfFile, revision: number, stamps: ReadonlySet<number>) {
    this.#file = file;
    this.#revision = revision;
    this.#stamps = stamps;
  }

  isHarmless(): boolean {
    const section = this.#file.revisions[this.#revision];
    if (section === undefined) return false;
    for (const number of section.numbers()) {
      const place = section.find(number);
      if (place === undefined) continue;
      if (place.kind === 'free' && number !== 0 && this.#before(number) !== null) return false;
      if (place.kind === 'packed') this.#brought.add(place.container);
      if (place.kind !== 'free') this.#brought.add(number);
    }
    return this.#isCatalogHarmless() && [...this.#brought].every((number) => this.#isAccountedFor(number));
  }

  #isCatalogHarmless(): boolean {
    const [now, before] = [catalogOf(this.#file, this.#revision), catalogOf(this.#file, this.#revision + 1)];
    const root = this.#file.revisions[this.#revision]?.trailer.get('Root') ?? null;
    if (!isSame(root, this.#file.revisions[this.#revision + 1]?.trailer.get('Root') ?? null)) return false;
    if (root instanceof PdfRef) this.#known.add(root.number);
    return (
      isSameDict(now, before, ['DSS', 'AcroForm', 'Extensions']) &&
      this.#isFormHarmless(now.get('AcroForm'), before.get('AcroForm')) &&
      this.#isStoreHarmless(now.get('DSS')) &&
      this.#isPlain(now.get('Extensions'))
    );
  }

  /** The form may only gain the fields of time stamps. */
  #isFormHarmless(now: PdfValue, before: PdfValue): boolean {
    const [form, earlier] = [this.#now(now), this.#resolvedBefore(before)];
    if (!(form instanceof PdfDict) || !(earlier instanceof PdfDict)) return form === null && earlier === null;
    this.#account(now);
    this.#account(form.get('Fields'));
    return (
      isSameDict(form, earlier, ['Fields', 'SigFlags']) &&
      this.#gainsOnlyStamps(form.get('Fields'), earlier.get('Fields'))
    );
  }

  #gainsOnlyStamps(now: PdfValue, before: PdfValue): boolean {
    const [list, earlier] = [this.#now(now) ?? [], this.#resolvedBefore(before) ?? []];
    if (!Array.isArray(list) || !Array.isArray(earlier) || list.length < earlier.length) return false;
    const [kept, added] = [list.slice(0, earlier.length), list.slice(earlier.length)];
    return isSame(kept, earlier) && added.every((field) => this.#isStampField(field));
  }

  /** The field of a document time stamp, which shows nothing. */
  #isStampField(value: PdfValue): boolean {
    const field = this.#now(value);
    if (!(value instanceof PdfRef) || !(field instanceof PdfDict) || field.repeated.size > 0) return false;
    const stamp = field.get('V');
    if (!(stamp instanceof PdfRef) || !this.#stamps.has(stamp.number) || nameOf(field.get('FT')) !== 'Sig')
      return false;
    const allowed = ['Type', 'Subtype', 'FT', 'V', 'T', 'F', 'Rect', 'P', 'Ff', 'AP', 'DR'];
    if ([...field.entries.keys()].some((name) => !allowed.includes(name))) return false;
    const rect = field.get('Rect');
    const isUnseen = rect === null || (Array.isArray(rect) && rect[0] === rect[2] && rect[1] === rect[3]);
    if (!isUnseen || (field.get('AP') !== null && rect === null)) return false;
    this.#account(value);
    this.#account(stamp);
    return this.#isEmptyAppearance(field.get('AP'));
  }

  #isEmptyAppearance(value: PdfValue): boolean {
    const appearance = this.#now(value);
    if (appearance === null) return true;
    if (!(appearance instanceof PdfDict)) return false;
    this.#account(value);
    const form = appearance.get('N');
    const stream = this.#now(form);
    if (!(stream instanceof PdfStream) || this.#file.unpack(stream, this.#revision).length > 256)
      return false;
    this.#account(form);
    return true;
  }

  /** The document security store: certificates and revocations, each of them what it says. */
  #isStoreHarmless(value: PdfValue): boolean {
    const store = this.#now(value);
    if (store === null) return true;
    if (!(store instanceof PdfDict)) return false;
    this.#account(value);
    const lists =
      this.#areEvidence(store.get('Certs')) &&
      this.#areEvidence(store.get('OCSPs')) &&
      this.#areEvidence(store.get('CRLs'));
    const allowed = ['Type', 'Certs', 'OCSPs', 'CRLs', 'VRI'];
    if (!lists || [...store.entries.keys()].some((name) => !allowed.includes(name))) return false;
    const perSignature = this.#now(store.get('VRI'));
    if (perSignature === null) return true;
    if (!(perSignature instanceof PdfDict)) return false;
    this.#account(store.get('VRI'));
    return [...perSignature.entries.values()].every((entry) => this.#isVriHarmless(entry));
  }

  #isVriHarmless(value: PdfValue): boolean {
    const entry = this.#now(value);
    if (!(entry instanceof PdfDict)) return false;
    this.#account(value);
    return [...entry.entries].every(([name, part]) => {
      if (['Cert', 'CRL', 'OCSP'].includes(name)) return this.#areEvidence(part);
      if (name === 'TS') return this.#isEvidence(part);
      return ['Type', 'TU'].includes(name) && this.#isPlain(part);
    });
  }

  #areEvidence(value: PdfValue): boolean {
    const list = this.#now(value) ?? [];
    if (!Array.isArray(list)) return false;
    this.#account(value);
    return list.every((one) => this.#isEvidence(one));
  }

  /** A stream that is one element of ASN.1 and nothing else, with no word of how it would be drawn. */
  #isEvidence(value: PdfValue): boolean {
    const stream = this.#now(value);
    if (!(value instanceof PdfRef) || !(stream instanceof PdfStream)) return false;
    if ([...stream.dict.entries.keys()].some((name) => !['Length', 'Filter', 'DecodeParms'].includes(name)))
      return false;
    this.#account(value);
    return isDer(this.#file.unpack(stream, this.#revision));
  }

  /** Accounted for, or an older object that has not changed in a way that matters. */
  #isAccountedFor(number: number): boolean {
    if (this.#known.has(number)) return true;
    const [now, before] = [this.#file.object(number, this.#revision), this.#before(number)];
    if (now instanceof PdfStream) {
      const type = nameOf(now.dict.get('Type'));
      return before === null && (type === 'XRef' || type === 'ObjStm');
    }
    if (before === null) return false;
    if (isSame(now, before)) return true;
    if (now instanceof PdfDict && before instanceof PdfDict && nameOf(now.get('Type')) === 'Page')
      return (
        isSameDict(now, before, ['Annots']) && this.#gainsOnlyStamps(now.get('Annots'), before.get('Annots'))
      );
    return (
      Array.isArray(now) && Array.isArray(before) && before.length > 0 && this.#gainsOnlyStamps(now, before)
    );
  }

  #account(value: PdfValue): void {
    if (value instanceof PdfRef) this.#known.add(value.number);
  }

  /** A value without references, or none at all. */
  #isPlain(value: PdfValue): boolean {
    if (value === null || typeof value !== 'object') return true;
    if (value instanceof PdfRef) {
      this.#account(value);
      return this.#isPlainHere(this.#now(value));
    }
    return this.#isPlainHere(value);
  }

  #isPlainHere(value: PdfValue): boolean {
    if (value instanceof PdfRef || value instanceof PdfStream) return false;
    if (Array.isArray(value)) return value.every((one) => this.#isPlainHere(one));
    return !(value instanceof PdfDict) || [...value.entries.values()].every((one) => this.#isPlainHere(one));
  }

  #now(value: PdfValue): PdfValue {
    return this.#file.resolve(value, this.#revision);
  }

  #resolvedBefore(value: PdfValue): PdfValue {
    return this.#file.resolve(value, this.#revision + 1);
  }

  #before(number: number): PdfValue {
    return this.#file.object(number, this.#revision + 1);
  }
}

function isDer(bytes: Buffer): boolean {
  try {
    return (
      Element.read(bytes).raw.length === bytes.length &&
      (bytes[0] === 0x30 || new X509Certificate(bytes).raw.length > 0)
    );
  } catch {
    return false;
  }
}
