import type { EsignError } from '../../kernel/errors.ts';
import type { DocumentKind } from '../../kernel/vocabulary.ts';
import type { Seal, SealWithSigner } from '../seal/check-seal.ts';
import {
  expectsSeals,
  judgeSeal,
  type SealProblem,
  type SealRule,
  type SealWithTrust,
} from '../seal/judge.ts';
import type { TrustedSigners } from '../seal/trust.ts';
import type { FileResult } from './download-file.ts';

/** Where the documents of a run come from, and which certificate seals them. */
export interface SealSource {
  /** The fingerprint of the pinned certificate. */
  pin: string | undefined;
  /** Pins a certificate unless one is pinned by now, and returns the pin. Undefined if nothing can be pinned: without a profile. */
  pinFirst: ((fingerprint: string) => Promise<string | undefined>) | undefined;
  /** Whether the service adds data after sealing: the sealed part is saved, and the file is accepted. */
  sealedPart: boolean;
}

/** A downloaded file, or the error. It has both if only its sealed part could not be saved. */
export interface FetchedFile {
  result: FileResult;
  /** The envelope's status, if the service returned the key. */
  status: string | null;
  /** The checked but not yet judged seal of a PDF; null for any other file. */
  seal: SealWithSigner | null;
  /** The file with what was sealed, if data was added to this one later and it was saved. */
  sealedPart: { path: string; sha256: string } | null;
  error: EsignError | undefined;
}

/** The result for a target, with the result of its seal check. */
export interface CheckedFile extends Pick<FetchedFile, 'result' | 'sealedPart' | 'error'> {
  seal: SealWithTrust | null;
  problem: { code: string; message: string } | null;
}

/**
 * Judges the seals of downloaded files, and pins the first one. As long as no seal is pinned, the first document of an envelope is held
 * until the second is downloaded, because together they may pin the seal.
 */
export async function* checkSeals(
  files: AsyncIterable<FetchedFile>,
  source: SealSource,
): AsyncGenerator<CheckedFile, void, undefined> {
  const { pinFirst } = source;
  const acceptsExtended = source.sealedPart ? 'known' : undefined;
  let { pin } = source;
  const held: FetchedFile[] = [];
  const released = () =>
    held.splice(0).map((file) => ({ ...file, ...judge(file, { authorities: [], pin, acceptsExtended }) }));
  try {
    for await (const file of files) {
      if (held.some(({ result }) => result.envelopeId !== file.result.envelopeId)) yield* released();
      held.push(file);
      const shared = pin === undefined ? sharedSeal(held, source) : undefined;
      if (shared !== undefined) pin = await pinFirst?.(shared);
      const isWaiting = pinFirst !== undefined && pin === undefined && held.some(isOfCompleted);
      if (!isWaiting) yield* released();
    }
  } catch (error) {
    yield* released();
    throw error;
  }
  yield* released();
}

function judge(
  file: FetchedFile,
  known: TrustedSigners,
): { seal: SealWithTrust | null; problem: SealProblem | null } {
  if (file.error !== undefined && file.seal === null) return { seal: null, problem: null };
  return judgeSeal(file.seal, known, ruleOf(file, known));
}

function ruleOf({ result: { what }, status }: FetchedFile, known: TrustedSigners): SealRule {
  // Only the service can identify the original, because a key can have any name.
  if (what === 'document' && status !== null) return 'original';
  return expectsSeals(known) && (what === 'signed' || what === 'certificate') ? 'required' : 'optional';
}

/**
 * Returns the fingerprint of the seal that the signed document and the certificate of a completed envelope share. Nothing else creates a
 * pin, because anyone can seal the original or a file that was found only by its key.
 */
function sharedSeal(files: readonly FetchedFile[], source: SealSource): string | undefined {
  const [signed, certificate] = [sealToPin(files, 'signed', source), sealToPin(files, 'certificate', source)];
  const fingerprint = signed?.fingerprint ?? undefined;
  return certificate?.fingerprint === fingerprint ? fingerprint : undefined;
}

function isOfCompleted({ result: { what }, status }: FetchedFile): boolean {
  return status === 'COMPLETED' && (what === 'signed' || what === 'certificate');
}

/** Returns the seal of a document if it is intact and covers the whole file, or its sealed part where that is expected. */
function sealToPin(
  files: readonly FetchedFile[],
  what: DocumentKind,
  { sealedPart }: SealSource,
): Seal | undefined {
  const seal = files.find((file) => isOfCompleted(file) && file.result.what === what)?.seal?.seal;
  return seal?.state === 'intact' && (seal.coverage === 'whole' || sealedPart) ? seal : undefined;
}
