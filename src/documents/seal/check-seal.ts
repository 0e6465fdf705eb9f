import { createHash, type Hash } from 'node:crypto';
import type { PathLike } from 'node:fs';
import { UnreadableSignatureError } from './asn1.ts';
import { readSignedContent, type SignedContent } from './cms.ts';
import { PdfBytes } from './pdf-bytes.ts';
import { PdfFile } from './pdf-file.ts';
import { PdfDict, UnreadablePdfError } from './pdf-values.ts';
import { ambiguityOf } from './sealed-part.ts';
import { catalogOf, isTimeStamp, type Signature, signaturesOf } from './signatures.ts';
import { addsOnlyValidationData } from './validation-data.ts';

/** The maximum number of signatures checked per file. */
const MAX_SIGNATURES = 50;

/** The seal of a document: whether the document is intact, whether anything was added, and who signed it. */
export interface Seal {
  state: 'intact' | 'changed' | 'unsigned' | 'unreadable';
  /** The coverage of the last seal; null without a readable seal. */
  coverage: 'whole' | 'extended' | 'partial' | null;
  /** The number of bytes after the last seal, if they contain more than validation data. */
  addedBytes: number | null;
  subject: string | null;
  issuer: string | null;
  /** The SHA-256 of the signer's certificate, in hex. */
  fingerprint: string | null;
  /** The time claimed by the signer, ISO 8601. */
  time: string | null;
  /** The signature level, as found but not verified: CMS, B-B, B-T, B-LT, or B-LTA. */
  level: string | null;
  /** The reason if it is changed, unreadable, or not a seal. */
  reason: string | null;
}

/** A seal with the data needed to evaluate trust. */
export interface CheckedSeal {
  seal: Seal;
  /** The signer; null without a readable seal. */
  signer: Pick<SignedContent, 'certificate' | 'certificates'> | null;
  /** True if the file has a signature, readable or not. */
  isSigned: boolean;
}

const NONE: Seal = {
  state: 'unsigned',
  coverage: null,
  addedBytes: null,
  subject: null,
  issuer: null,
  fingerprint: null,
  time: null,
  level: null,
  reason: null,
};

const ONLY_TIME_STAMP = 'The file has only a timestamp, which is not a seal.';

interface Checked {
  signature: Signature;
  content: SignedContent;
  isGood: boolean;
}

/**
 * Checks the seals of a PDF, with bounded memory and work even for malicious files. `source` is a path, or the descriptor of an open file,
 * which stays open.
 * @throws the system's error if the file can't be read.
 */
export async function checkSeal(source: PathLike | number): Promise<CheckedSeal> {
  let bytes: PdfBytes | undefined;
  try {
    bytes = PdfBytes.open(source);
    return await check(bytes);
  } catch (error) {
    const isSigned = error instanceof UnreadableSignatureError || (bytes && (await holdsSignature(bytes)));
    return unreadable(reasonOf(error), isSigned ?? false);
  } finally {
    bytes?.close();
  }
}

async function check(bytes: PdfBytes): Promise<CheckedSeal> {
  const file = new PdfFile(bytes);
  const signatures = signaturesOf(file);
  if (signatures.length > MAX_SIGNATURES) return unreadable('The file has too many signatures.', true);
  const checked: Checked[] = [];
  const digests = new Digests(bytes);
  for (const signature of signatures) checked.push(await checkOne(digests, signature));
  const last = checked.findLast(({ signature }) => !isTimeStamp(signature)) ?? checked.at(-1);
  if (last === undefined) return withoutSignature(bytes);
  const wrong = checked.find(({ isGood }) => !isGood);
  // A timestamp shows when, not who: anyone can get one.
  if (wrong === undefined && isTimeStamp(last.signature))
    return { seal: { ...NONE, reason: ONLY_TIME_STAMP }, signer: null, isSigned: false };
  const coverage =
    wrong === undefined
      ? coverageOf(file, last.signature, signatures)
      : roughCoverageOf(file, last.signature);
  const { certificate } = last.content;
  const seal: Seal = {
    state: wrong === undefined ? 'intact' : 'changed',
    coverage,
    addedBytes: coverage === 'extended' ? bytes.size - (last.signature.range?.end ?? 0) : null,
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    fingerprint: createHash('sha256').update(certificate.raw).digest('hex'),
    time: last.content.time ?? last.signature.claimedTime ?? null,
    level: levelOf(file, last, signatures),
    reason:
      wrong === undefined
        ? null
        : 'The file was changed after it was sealed: its digest or signature does not match.',
  };
  return { seal, signer: last.content, isSigned: true };
}

/** Returns the result for a file whose form has no signature. The file may still contain a signature that was removed from the form. */
async function withoutSignature(bytes: PdfBytes): Promise<CheckedSeal> {
  if (await holdsSignature(bytes))
    return unreadable('The file contains a signature that is not part of its form.', true);
  return { seal: NONE, signer: null, isSigned: false };
}

async function checkOne(digests: Digests, signature: Signature): Promise<Checked> {
  const kinds = ['ETSI.CAdES.detached', 'adbe.pkcs7.detached', 'ETSI.RFC3161'];
  if (!kinds.includes(signature.subFilter))
    throw new UnreadableSignatureError(`its type is not supported (${signature.subFilter || 'none'})`);
  if (
    signature.range === undefined ||
    signature.problem?.startsWith('its dictionary') ||
    signature.contents.length === 0
  )
    throw new UnreadableSignatureError(signature.problem ?? 'it is incomplete');
  const content = readSignedContent(signature.contents, isTimeStamp(signature) ? 'timeStamp' : 'signature');
  const digest = await digests.of(content.hash, signature.range);
  return { signature, content, isGood: content.isGood(digest) };
}

/** Returns the coverage of a valid signature. @throws UnreadableSignatureError if readers could show the content differently. */
function coverageOf(file: PdfFile, last: Signature, signatures: readonly Signature[]): Seal['coverage'] {
  const rough = roughCoverageOf(file, last);
  if (rough === 'partial') return rough;
  const sealed = rough === 'whole' ? file : sealedPart(file.bytes, last);
  if (sealed === undefined) return 'extended';
  const ambiguity = ambiguityOf(sealed);
  if (ambiguity !== undefined)
    throw new UnreadableSignatureError(`PDF readers could show its content differently (${ambiguity})`);
  return rough === 'whole' || addsOnlyValidationData(file.bytes, sealed, signatures) ? 'whole' : 'extended';
}

/** Returns the coverage by the byte range alone, regardless of what was added. */
function roughCoverageOf({ bytes }: PdfFile, { problem, range }: Signature): Seal['coverage'] {
  if (problem !== undefined || range === undefined) return 'partial';
  return range.end === bytes.size ? 'whole' : 'extended';
}

/** Returns the file as it was when it was sealed, or undefined if that part isn't a PDF. */
function sealedPart(bytes: PdfBytes, { range }: Signature): PdfFile | undefined {
  try {
    return new PdfFile(bytes.until(range?.end ?? 0));
  } catch (error) {
    if (error instanceof UnreadablePdfError) return undefined;
    throw error;
  }
}

/** Returns the level (ETSI EN 319 142-1) that matches the parts of the signature. */
function levelOf(file: PdfFile, { signature, content }: Checked, signatures: readonly Signature[]): string {
  if (signature.subFilter !== 'ETSI.CAdES.detached' || !content.bindsCertificate) return 'CMS';
  if (!content.isTimeStamped && !signatures.some(isTimeStamp)) return 'B-B';
  const hasStore = file.resolve(catalogOf(file, 0).get('DSS'), 0) instanceof PdfDict;
  if (!hasStore) return 'B-T';
  return signatures.some(isTimeStamp) ? 'B-LTA' : 'B-LT';
}

/** Returns a name on one line. X509Certificate writes it on several lines. */
function oneLine(name: string): string {
  return name.split('\n').join(', ');
}

function unreadable(reason: string, isSigned: boolean): CheckedSeal {
  return { seal: { ...NONE, state: 'unreadable', reason }, signer: null, isSigned };
}

/** Returns the message of an error caused by the bytes. Rethrows any other error. */
function reasonOf(error: unknown): string {
  if (error instanceof UnreadablePdfError) return error.message;
  if (error instanceof UnreadableSignatureError) return `The signature can't be checked: ${error.message}.`;
  throw error;
}

/** Returns true if the text of a signature is anywhere in the file. */
async function holdsSignature(bytes: PdfBytes): Promise<boolean> {
  const word = '/ByteRange';
  let rest = Buffer.alloc(0);
  for await (const block of bytes.blocks(0, bytes.size)) {
    const overlap = Buffer.concat([rest, block.subarray(0, word.length)]);
    if (block.includes(word, 0, 'latin1') || overlap.includes(word, 0, 'latin1')) return true;
    rest = Buffer.from(block.subarray(-word.length));
  }
  return false;
}

/** How many times the bytes of a file may be hashed. In an ordinary file, any number of signatures take two passes at most. */
const MAX_PASSES = 4;

/** Hashes the bytes that signatures cover. All of them cover the file from its start, so shared bytes are hashed once. */
export class Digests {
  readonly #bytes: PdfBytes;
  readonly #prefixes = new Map<string, { hash: Hash; end: number }>();
  #left: number;

  constructor(bytes: PdfBytes) {
    this.#bytes = bytes;
    this.#left = MAX_PASSES * bytes.size;
  }

  /** Returns the digest of a range. Call it for ranges in the order of their ends. @throws UnreadablePdfError. */
  async of(algorithm: string, { gapStart, gapEnd, end }: NonNullable<Signature['range']>): Promise<Buffer> {
    const known = this.#prefixes.get(algorithm);
    const prefix =
      known !== undefined && known.end <= gapStart ? known : { hash: createHash(algorithm), end: 0 };
    await this.#hash(prefix.hash, prefix.end, gapStart);
    this.#prefixes.set(algorithm, { hash: prefix.hash, end: gapStart });
    const hash = prefix.hash.copy();
    await this.#hash(hash, gapEnd, end);
    return hash.digest();
  }

  async #hash(hash: Hash, start: number, end: number): Promise<void> {
    this.#left -= Math.max(0, Math.min(end, this.#bytes.size) - start);
    if (this.#left < 0) throw new UnreadablePdfError('The signatures are too complex to check.');
    for await (const block of this.#bytes.blocks(start, end)) hash.update(block);
  }
}
