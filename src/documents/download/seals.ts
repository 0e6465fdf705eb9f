import type { Clock } from '../../kernel/clock.ts';
import type { EsignError } from '../../kernel/errors.ts';
import type { DocumentKind } from '../../kernel/vocabulary.ts';
import type { CheckedSeal, Seal } from '../seal/check-seal.ts';
import {
  expectsSeals,
  type JudgedSeal,
  NOT_A_PDF,
  type SealProblem,
  type SealRule,
  verifySeal,
} from '../seal/judge.ts';
import { type Origin, pinFirst, pinnedFor, readPins } from '../seal/pins.ts';
import type { TrustedSigners } from '../seal/trust.ts';
import type { FileResult } from './file.ts';

/** Where the documents of a run come from, and where seals are pinned. */
export interface SealSource {
  /** The folder with the pins. */
  folder: string;
  /** The profile and base URL; undefined if nothing is pinned. */
  origin: Origin | undefined;
  clock: Clock;
}

/** A downloaded file, or the error. */
export interface FetchedFile {
  result: FileResult;
  /** The envelope's status, if the service returned the key. */
  status: string | null;
  /** The checked but not yet judged seal of a PDF; null for any other file. */
  seal: CheckedSeal | null;
  error: EsignError | undefined;
}

/** The result for a target, with the result of its seal check. */
export interface CheckedFile extends Pick<FetchedFile, 'result' | 'error'> {
  seal: JudgedSeal | null;
  problem: { code: string; message: string } | null;
}

/**
 * Judges the seals of downloaded files, and pins the first seal of an origin. As long as no seal is pinned, the first document of an
 * envelope is held until the second is downloaded, because together they may pin the seal.
 */
export async function* checkSeals(
  files: AsyncIterable<FetchedFile>,
  source: SealSource,
): AsyncGenerator<CheckedFile, void, undefined> {
  const { folder, origin } = source;
  let pinned = origin === undefined ? [] : pinnedFor(await readPins(folder), origin);
  const held: FetchedFile[] = [];
  const released = () => held.splice(0).map((file) => ({ ...file, ...judge(file, pinned) }));
  try {
    for await (const file of files) {
      if (held.some(({ result }) => result.envelopeId !== file.result.envelopeId)) yield* released();
      held.push(file);
      if (pinned.length === 0) pinned = await pinFrom(held, source);
      const isWaiting = origin !== undefined && pinned.length === 0 && held.some(isOfCompleted);
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
  pinned: readonly string[],
): { seal: JudgedSeal | null; problem: SealProblem | null } {
  if (file.error !== undefined) return { seal: null, problem: null };
  const known: TrustedSigners = { authorities: [], pinned };
  const rule = ruleOf(file, known);
  if (file.seal === null) return { seal: null, problem: rule === 'required' ? NOT_A_PDF : null };
  return verifySeal(file.seal, known, rule);
}

function ruleOf({ result: { what }, status }: FetchedFile, known: TrustedSigners): SealRule {
  // Only the service can identify the original, because a key can have any name.
  if (what === 'document' && status !== null) return 'original';
  return expectsSeals(known) && (what === 'signed' || what === 'certificate') ? 'required' : 'optional';
}

/**
 * Pins the seal shared by the signed document and the certificate of a completed envelope. Nothing else creates a pin, because anyone can
 * seal the original or a file that was found only by its key. Returns the pinned fingerprints.
 */
async function pinFrom(
  files: readonly FetchedFile[],
  { folder, origin, clock }: SealSource,
): Promise<string[]> {
  const [signed, certificate] = [sealToPin(files, 'signed'), sealToPin(files, 'certificate')];
  if (origin === undefined || signed?.fingerprint == null) return [];
  const { fingerprint, subject } = signed;
  if (certificate?.fingerprint !== fingerprint) return [];
  const since = new Date(clock.now()).toISOString();
  return pinnedFor(await pinFirst(folder, { ...origin, fingerprint, subject: subject ?? '', since }), origin);
}

function isOfCompleted({ result: { what }, status }: FetchedFile): boolean {
  return status === 'COMPLETED' && (what === 'signed' || what === 'certificate');
}

/** Returns the seal of a document if it is intact and covers the whole file. */
function sealToPin(files: readonly FetchedFile[], what: DocumentKind): Seal | undefined {
  const seal = files.find((file) => isOfCompleted(file) && file.result.what === what)?.seal?.seal;
  return seal?.state === 'intact' && seal.coverage === 'whole' ? seal : undefined;
}
