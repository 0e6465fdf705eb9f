import type { Clock } from '../../kernel/clock.ts';
import type { DocumentKind } from '../../kernel/vocabulary.ts';
import type { CheckedSeal, Seal } from './check-seal.ts';
import {
  expectsSeals,
  type JudgedSeal,
  NOT_A_PDF,
  type SealProblem,
  type SealRule,
  verifySeal,
} from './judge.ts';
import { type Origin, pinFirst, pinnedFor, readPins } from './pins.ts';
import type { TrustedSigners } from './trust.ts';

/** Where the documents of a run come from, and where seals are pinned. */
export interface SealSource {
  /** The folder with the pins. */
  folder: string;
  /** The profile and base URL; undefined if nothing is pinned. */
  origin: Origin | undefined;
  clock: Clock;
}

/** A downloaded file. */
export interface SealedFile {
  result: { what: string | null };
  /** The envelope's status, if the service returned the key. */
  status: string | null;
  /** The checked but not yet judged seal of a PDF; null for any other file. */
  seal: CheckedSeal | null;
  error: Error | undefined;
}

/** Checks the seals of downloaded files, and pins the first seal of an origin. */
export class DownloadSeals {
  readonly #source: SealSource;
  #known: TrustedSigners;

  private constructor(source: SealSource, pinned: readonly string[]) {
    this.#source = source;
    this.#known = { authorities: [], pinned };
  }

  static async open(source: SealSource): Promise<DownloadSeals> {
    const { folder, origin } = source;
    return new DownloadSeals(source, origin === undefined ? [] : pinnedFor(await readPins(folder), origin));
  }

  judge(file: SealedFile): { seal: JudgedSeal | null; problem: SealProblem | null } {
    if (file.error !== undefined) return { seal: null, problem: null };
    const rule = ruleOf(file, this.#known);
    if (file.seal === null) return { seal: null, problem: rule === 'required' ? NOT_A_PDF : null };
    return verifySeal(file.seal, this.#known, rule);
  }

  /**
   * Pins the seal shared by the signed document and the certificate of a completed envelope. Nothing else creates a pin, because anyone can
   * seal the original or a file that was found only by its key. Returns true if more files of the same envelope could still pin a seal.
   */
  async pinFrom(files: readonly SealedFile[]): Promise<boolean> {
    const { folder, origin, clock } = this.#source;
    if (origin === undefined || this.#known.pinned.length > 0) return false;
    const [signed, certificate] = [sealToPin(files, 'signed'), sealToPin(files, 'certificate')];
    if (signed?.fingerprint == null || certificate?.fingerprint !== signed.fingerprint)
      return files.some(isOfCompleted);
    const { fingerprint, subject } = signed;
    const since = new Date(clock.now()).toISOString();
    const pins = await pinFirst(folder, { ...origin, fingerprint, subject: subject ?? '', since });
    this.#known = { ...this.#known, pinned: pinnedFor(pins, origin) };
    return false;
  }
}

function ruleOf({ result: { what }, status }: SealedFile, known: TrustedSigners): SealRule {
  // Only the service can identify the original, because a key can have any name.
  if (what === 'document' && status !== null) return 'original';
  return expectsSeals(known) && (what === 'signed' || what === 'certificate') ? 'required' : 'optional';
}

function isOfCompleted({ result: { what }, status }: SealedFile): boolean {
  return status === 'COMPLETED' && (what === 'signed' || what === 'certificate');
}

/** Returns the seal of a document if it is intact and covers the whole file. */
function sealToPin(files: readonly SealedFile[], what: DocumentKind): Seal | undefined {
  const seal = files.find((file) => isOfCompleted(file) && file.result.what === what)?.seal?.seal;
  return seal?.state === 'intact' && seal.coverage === 'whole' ? seal : undefined;
}
