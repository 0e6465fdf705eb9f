import { createHash } from 'node:crypto';
import { fstatSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { counted } from '../../kernel/duration.ts';
import { blocksOf } from '../../kernel/files/regular-file.ts';
import { isPdf } from '../archive/pdf-header.ts';
import { createValueBudget, UnreadableSignatureError, unreadableError } from './asn1.ts';
import { readBytes, type SignatureRange, signatureIn, signatureRangesIn } from './byte-ranges.ts';
import { openSignedData, readSignature, type SignedContent, type SignedData } from './cms.ts';

/** The seal of a document: whether the sealed bytes are intact, how many there are, and who sealed them. */
export interface Seal {
  state: 'intact' | 'changed' | 'unsigned' | 'unreadable';
  /** `whole` if the seal covers every byte of the file but itself; `extended` if bytes follow. Null without a readable seal. */
  coverage: 'whole' | 'extended' | null;
  /** The number of bytes up to the end of what was sealed, which are a complete PDF. */
  sealedBytes: number | null;
  /** The number of bytes after it. */
  addedBytes: number | null;
  /** Null without a readable seal, or if the certificate has no name. */
  subject: string | null;
  issuer: string | null;
  /** The SHA-256 of the signer's certificate, in hex. */
  fingerprint: string | null;
  /** The time claimed by the signer, ISO 8601. */
  time: string | null;
  /** Why it is changed, unreadable, or not a seal, or what an extended one doesn't cover. */
  reason: string | null;
  /** The signatures that don't decide, in the order of the file. */
  others: readonly OtherSignature[];
}

/** A signature other than the seal: an earlier one, or a timestamp. */
export interface OtherSignature {
  kind: 'signature' | 'timestamp' | 'unknown';
  /** The number of bytes up to the end of what it covers. */
  end: number;
  state: 'not checked';
}

/** A seal with the data needed to evaluate trust. */
export interface SealWithSigner {
  seal: Seal;
  /** The signer; null without a readable seal. */
  signer: Pick<SignedContent, 'certificate' | 'certificates'> | null;
}

const NONE: Seal = {
  state: 'unsigned',
  coverage: null,
  sealedBytes: null,
  addedBytes: null,
  subject: null,
  issuer: null,
  fingerprint: null,
  time: null,
  reason: null,
  others: [],
};

/**
 * Checks the seal of an open file: the last signature that isn't a timestamp. Returns null for a file that isn't a PDF and contains no
 * signature.
 * `mayBeSigned`: false if a search while it was written found no signature, so that the file isn't read again.
 * @throws the system's error if the file can't be read, or an AbortError.
 */
export async function checkSeal(
  file: number,
  signal?: AbortSignal,
  mayBeSigned = true,
): Promise<SealWithSigner | null> {
  try {
    const { size } = fstatSync(file);
    const ranges = mayBeSigned ? await signatureRangesIn(file, size) : [];
    if (isPdf(file)) return await check(file, ranges, size, signal);
    if (ranges.length === 0) return null;
    throw unreadableError('the file does not begin like a PDF');
  } catch (error) {
    if (!(error instanceof UnreadableSignatureError)) throw error;
    const reason = `The signature can't be checked: ${error.message}.`;
    return { seal: { ...NONE, state: 'unreadable', reason }, signer: null };
  }
}

async function check(
  file: number,
  ranges: readonly SignatureRange[],
  size: number,
  signal: AbortSignal | undefined,
): Promise<SealWithSigner> {
  if (ranges.length === 0) return { seal: NONE, signer: null };
  // For all signatures together, because a file can have many large ones.
  const left = createValueBudget();
  const decode: Decode = async (range) => {
    // Decoding can take most of a second. Other work of the process gets a turn before.
    await setImmediate(undefined, { signal });
    return openSignedData(signatureIn(file, range), left);
  };
  const sealed = await lastSignature(ranges, decode);
  const others = await othersOf(ranges, sealed?.range.end ?? 0, decode);
  if (sealed === undefined) {
    const reason = 'The file has only a timestamp, which is not a seal.';
    return { seal: { ...NONE, reason, others }, signer: null };
  }
  const { range, data } = sealed;
  const content = readSignature(data);
  const isGood = content.isGood(await digestOf(file, content.hash, range));
  const { certificate } = content;
  const addedBytes = size - range.end;
  const seal: Seal = {
    state: isGood ? 'intact' : 'changed',
    coverage: addedBytes === 0 ? 'whole' : 'extended',
    sealedBytes: range.end,
    addedBytes,
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    fingerprint: createHash('sha256').update(certificate.raw).digest('hex'),
    time: content.time ?? timeBeside(file, range),
    reason: isGood
      ? limitOf(range.end, addedBytes)
      : 'The file was changed after it was sealed: its digest or signature does not match.',
    others,
  };
  return { seal, signer: content };
}

/** Returns what an intact seal doesn't cover; null if it covers the whole file. */
function limitOf(sealedBytes: number, addedBytes: number): string | null {
  if (addedBytes === 0) return null;
  return `Only the first ${sealedBytes} bytes are sealed. Added later and not covered: ${counted(addedBytes, 'byte')}.`;
}

type Decode = (range: SignatureRange) => Promise<SignedData>;

/**
 * Returns the last signature that isn't a timestamp; undefined if there are only timestamps.
 * @throws UnreadableSignatureError if it is neither: it may be the one that a reader shows.
 */
async function lastSignature(
  ranges: readonly SignatureRange[],
  decode: Decode,
): Promise<{ range: SignatureRange; data: SignedData } | undefined> {
  for (const range of ranges.toReversed()) {
    const data = await decode(range);
    if (data.kind === 'signature') return { range, data };
  }
  return undefined;
}

/** Returns the signatures other than the seal, which ends at `sealedEnd`. All after it are timestamps. */
async function othersOf(
  ranges: readonly SignatureRange[],
  sealedEnd: number,
  decode: Decode,
): Promise<OtherSignature[]> {
  const others: OtherSignature[] = [];
  for (const range of ranges) {
    const { end } = range;
    if (end === sealedEnd) continue;
    const kind = end > sealedEnd ? 'timestamp' : await kindOf(range, decode);
    others.push({ kind, end, state: 'not checked' });
  }
  return others;
}

async function kindOf(range: SignatureRange, decode: Decode): Promise<OtherSignature['kind']> {
  try {
    return (await decode(range)).kind;
  } catch (error) {
    if (error instanceof UnreadableSignatureError) return 'unknown';
    throw error;
  }
}

async function digestOf(
  file: number,
  hash: string,
  { gapStart, gapEnd, end }: SignatureRange,
): Promise<Buffer> {
  const digest = createHash(hash);
  for await (const block of blocksOf(file, gapStart)) digest.update(block);
  for await (const block of blocksOf(file, end, gapEnd)) digest.update(block);
  return digest.digest();
}

/** The bytes on each side of a signature in which its time is looked for. */
const BESIDE_BYTES = 4 * 1024;

/**
 * Returns the time in the dictionary of a signature. PAdES puts it there, and not into the CMS structure. Like the other one, it is only
 * claimed by the signer.
 */
function timeBeside(file: number, { gapStart, gapEnd, end }: SignatureRange): string | null {
  const start = Math.max(0, gapStart - BESIDE_BYTES);
  const before = readBytes(file, start, gapStart - start).toString('latin1');
  const after = readBytes(file, gapEnd, Math.min(BESIDE_BYTES, end - gapEnd)).toString('latin1');
  const text = before.slice(before.lastIndexOf(' obj') + 1) + after.slice(0, indexOrEnd(after, 'endobj'));
  const [, year, month, day, hour, minute, second, sign, hours, minutes] = PDF_TIME.exec(text) ?? [];
  const zone = sign === undefined ? 'Z' : `${sign}${hours}:${minutes ?? '00'}`;
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/** The date of a signature (ISO 32000-1, 7.9.4), such as `/M (D:20260301102030+01'00')`. */
const PDF_TIME = /\/M\s*\(D:(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:Z[^)]*|([+-])(\d\d)'?(\d\d)?'?)?\)/;

function indexOrEnd(text: string, word: string): number {
  const index = text.indexOf(word);
  return index < 0 ? text.length : index;
}

/** Returns a name on one line, or null if it is empty. X509Certificate writes it on several lines, and undefined for an empty one. */
function oneLine(name: string | undefined): string | null {
  return name?.split('\n').join(', ') ?? null;
}
