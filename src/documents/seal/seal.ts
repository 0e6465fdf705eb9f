import { createHash } from 'node:crypto';
import { UnreadableSignatureError } from './asn1.ts';
import { readSignedContent, type SignedContent } from './cms.ts';
import { addsOnlyValidationData } from './later-revisions.ts';
import { PdfBytes } from './pdf-bytes.ts';
import { PdfFile } from './pdf-file.ts';
import { PdfDict, UnreadablePdfError } from './pdf-values.ts';
import { catalogOf, isTimeStamp, type Signature, signaturesOf } from './signatures.ts';

/** Signatures of one file that are checked; each costs a reading of the file. */
const MAX_SIGNATURES = 50;

/** What the seal of a paper says: is it what was sealed, was anything added, and by whom. */
export interface Seal {
  state: 'intact' | 'changed' | 'unsigned' | 'unreadable';
  /** Of the last seal; null without one that can be read. */
  coverage: 'whole' | 'extended' | 'partial' | null;
  /** Bytes behind what the last seal covers, where they are more than validation data. */
  addedBytes: number | null;
  subject: string | null;
  issuer: string | null;
  /** SHA-256 of the signer's certificate, hex. */
  fingerprint: string | null;
  /** When the signer says to have sealed, ISO 8601. */
  time: string | null;
  /** As found, not judged: CMS, B-B, B-T, B-LT or B-LTA. */
  level: string | null;
  /** Why it is changed or unreadable, in words. */
  reason: string | null;
}

/** A seal with what its trust is judged by. */
export interface CheckedSeal {
  seal: Seal;
  /** Null where there is no seal, or none that can be read. */
  signer: Pick<SignedContent, 'certificate' | 'certificates'> | null;
  /** True when the file brings a signature, readable or not. */
  isSigned: boolean;
}

const NONE: Seal = {
  state: 'unsigned',
  ...{
    coverage: null,
    addedBytes: null,
    subject: null,
    issuer: null,
    fingerprint: null,
    time: null,
    level: null,
  },
  reason: null,
};

interface Checked {
  signature: Signature;
  content: SignedContent;
  isGood: boolean;
}

/**
 * Checks the seals of a PDF, in memory and time that do not depend on who made it.
 * @throws the system's error when the file can't be read.
 */
export async function checkSeal(path: string): Promise<CheckedSeal> {
  const bytes = attempt(() => new PdfBytes(path));
  if (typeof bytes === 'string') return unreadable(bytes, false);
  try {
    return await check(bytes);
  } catch (error) {
    const isSigned = error instanceof UnreadableSignatureError || (await holdsSignature(bytes));
    return unreadable(reasonOf(error), isSigned);
  } finally {
    bytes.close();
  }
}

async function check(bytes: PdfBytes): Promise<CheckedSeal> {
  const file = new PdfFile(bytes);
  const signatures = signaturesOf(file);
  if (signatures.length === 0) return withoutSignature(bytes);
  if (signatures.length > MAX_SIGNATURES) return unreadable('The file has too many signatures.', true);
  const checked: Checked[] = [];
  for (const signature of signatures) checked.push(await checkOne(bytes, signature));
  const last = checked.findLast(({ signature }) => !isTimeStamp(signature)) ?? checked.at(-1);
  if (last === undefined) return unreadable('The file has no signature.', true);
  const wrong = checked.find(({ isGood }) => !isGood);
  const coverage = coverageOf(file, last.signature, signatures);
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
      wrong === undefined ? null : 'The file is not what was sealed: its digest or its signature is another.',
  };
  return { seal, signer: last.content, isSigned: true };
}

/** A file may hold a signature that its form does not name: somebody may have taken it out of the form. */
async function withoutSignature(bytes: PdfBytes): Promise<CheckedSeal> {
  if (await holdsSignature(bytes))
    return unreadable('The file holds a signature that its form does not name.', true);
  return { seal: NONE, signer: null, isSigned: false };
}

async function checkOne(bytes: PdfBytes, signature: Signature): Promise<Checked> {
  const kinds = ['ETSI.CAdES.detached', 'adbe.pkcs7.detached', 'ETSI.RFC3161'];
  if (!kinds.includes(signature.subFilter))
    throw new UnreadableSignatureError(
      `it is of a kind that is not checked here (${signature.subFilter || 'none'})`,
    );
  if (
    signature.range === undefined ||
    signature.problem?.startsWith('its dictionary') ||
    signature.contents.length === 0
  )
    throw new UnreadableSignatureError(signature.problem ?? 'it is not complete');
  const content = readSignedContent(signature.contents, isTimeStamp(signature) ? 'timeStamp' : 'signature');
  const digest = await digestOf(bytes, content.hash, signature.range);
  return { signature, content, isGood: content.isGood(digest) };
}

async function digestOf(
  bytes: PdfBytes,
  algorithm: string,
  { gapStart, gapEnd, end }: NonNullable<Signature['range']>,
): Promise<Buffer> {
  const hash = createHash(algorithm);
  for await (const block of bytes.blocks(0, gapStart)) hash.update(block);
  for await (const block of bytes.blocks(gapEnd, end)) hash.update(block);
  return hash.digest();
}

function coverageOf(file: PdfFile, last: Signature, signatures: readonly Signature[]): Seal['coverage'] {
  if (last.problem !== undefined || last.range === undefined) return 'partial';
  if (last.range.end === file.bytes.size) return 'whole';
  return addsOnlyValidationData(file, last.range.end, signatures) ? 'whole' : 'extended';
}

/** The levels of ETSI EN 319 142-1, by what is there. */
function levelOf(file: PdfFile, { signature, content }: Checked, signatures: readonly Signature[]): string {
  if (signature.subFilter !== 'ETSI.CAdES.detached' || !content.bindsCertificate) return 'CMS';
  if (!content.isTimeStamped && !signatures.some(isTimeStamp)) return 'B-B';
  const hasStore = file.resolve(catalogOf(file, 0).get('DSS'), 0) instanceof PdfDict;
  if (!hasStore) return 'B-T';
  return signatures.at(-1) !== undefined && signatures.some(isTimeStamp) ? 'B-LTA' : 'B-LT';
}

/** X509Certificate writes a name over several lines. */
function oneLine(name: string): string {
  return name.split('\n').join(', ');
}

function unreadable(reason: string, isSigned: boolean): CheckedSeal {
  return { seal: { ...NONE, state: 'unreadable', reason }, signer: null, isSigned };
}

/** In words, for what hostile bytes may do; anything else is passed on. */
function reasonOf(error: unknown): string {
  if (error instanceof UnreadablePdfError) return error.message;
  if (error instanceof UnreadableSignatureError) return `The signature can’t be checked: ${error.message}.`;
  throw error;
}

function attempt<T>(open: () => T): T | string {
  try {
    return open();
  } catch (error) {
    if (error instanceof UnreadablePdfError) return error.message;
    throw error;
  }
}

/** Whether the text of a signature stands anywhere in the file. */
async function holdsSignature(bytes: PdfBytes): Promise<boolean> {
  const word = '/ByteRange';
  let rest = Buffer.alloc(0);
  for await (const block of bytes.blocks(0, bytes.size)) {
    const seam = Buffer.concat([rest, block.subarray(0, word.length)]);
    if (block.includes(word, 0, 'latin1') || seam.includes(word, 0, 'latin1')) return true;
    rest = Buffer.from(block.subarray(-word.length));
  }
  return false;
}
