import type { Context } from '../../cli/context.ts';
import type { Session } from '../../cli/session.ts';
import type { FetchedFile } from '../../documents/download/fetch.ts';
import {
  expectsSeals,
  NOT_A_PDF,
  type SealProblem,
  type SealRule,
  type TrustedSeal,
  verifySeal,
} from '../../documents/seal/judge.ts';
import { type Origin, pinFirst, pinnedFor, readPins } from '../../documents/seal/pins.ts';
import type { Seal } from '../../documents/seal/seal.ts';
import { readAuthorities, type TrustedSigners } from '../../documents/seal/trust.ts';
import { NoProfileError, UsageError } from '../../kernel/errors.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import type { DocumentKind } from '../../kernel/vocabulary.ts';

/** Returns the origin of this run's documents, or undefined without a profile or for an ephemeral sandbox. */
export async function originOf(session: Session): Promise<Origin | undefined> {
  const { profileName, profile, baseUrl } = await session.settings();
  if (profileName === undefined || profile === undefined || baseUrl === undefined) return undefined;
  return profile.ephemeral === true ? undefined : { profile: profileName.value, baseUrl: baseUrl.value };
}

/** Returns the signers that are trusted in this run: pinned ones, and those named by flags. */
export async function knownSigners(
  { trust, 'sealed-by': sealedBy = [] }: SignerFlags,
  session: Session,
): Promise<TrustedSigners> {
  const origin = await originOf(session);
  return {
    authorities: trust === undefined ? [] : await readAuthorities(trust),
    pinned: origin === undefined ? [] : pinnedFor(await readPins(stateDir()), origin),
    sealedBy: sealedBy.map(wholeFingerprint),
  };
}

/** Parses a SHA-256 in hexadecimal, with or without colons. @throws UsageError for anything else. */
export function wholeFingerprint(text: string): string {
  const fingerprint = text.replaceAll(':', '').toLowerCase();
  if (/^[0-9a-f]{64}$/.test(fingerprint)) return fingerprint;
  throw new UsageError('A fingerprint has 64 hexadecimal digits: the SHA-256 of a certificate.', {
    hint: '`esign documents verify FILE --json` shows it as seal.fingerprint.',
  });
}

interface SignerFlags {
  trust?: string | undefined;
  'sealed-by'?: readonly string[] | undefined;
}

/** Checks the seals of downloaded files, and pins the first seal of an origin. */
export interface SealCheck {
  judge(file: FetchedFile): { seal: TrustedSeal | null; problem: SealProblem | null };
  /** Returns true if more files of the same envelope could still pin a seal. */
  canPin(files: readonly FetchedFile[]): boolean;
  /**
   * Pins the seal shared by the signed document and the certificate of a completed envelope. Nothing else creates a pin, because
   * anyone can seal the original or a file that was found only by its key.
   */
  pinFrom(files: readonly FetchedFile[]): Promise<void>;
}

export async function createSealCheck(context: Context): Promise<SealCheck> {
  const origin = await originOf(context.session);
  let known = await knownSigners({}, context.session);
  return {
    judge(file) {
      const { seal, error } = file;
      if (error !== undefined) return { seal: null, problem: null };
      const rule = ruleOf(file, known);
      if (seal === null) return { seal: null, problem: rule === 'required' ? NOT_A_PDF : null };
      return verifySeal(seal, known, rule);
    },
    canPin: (files) => origin !== undefined && known.pinned.length === 0 && files.some(isOfCompleted),
    async pinFrom(files) {
      const [signed, certificate] = (['signed', 'certificate'] as const).map((what) =>
        sealToPin(files, what),
      );
      if (origin === undefined || known.pinned.length > 0 || signed === undefined) return;
      const { fingerprint, subject } = signed;
      if (fingerprint === null || certificate?.fingerprint !== fingerprint) return;
      const since = new Date(context.session.clock.now()).toISOString();
      const pins = await pinFirst(stateDir(), { ...origin, fingerprint, subject: subject ?? '', since });
      known = { ...known, pinned: pinnedFor(pins, origin) };
    },
  };
}

function ruleOf({ result: { what }, status }: FetchedFile, known: TrustedSigners): SealRule {
  // Only the service can identify the original, because a key can have any name.
  if (what === 'document' && status !== null) return 'original';
  return expectsSeals(known) && (what === 'signed' || what === 'certificate') ? 'required' : 'optional';
}

function isOfCompleted({ result: { what }, status }: FetchedFile): boolean {
  return status === 'COMPLETED' && (what === 'signed' || what === 'certificate');
}

/** Returns the seal of a document if it is intact and covers the whole file. */
function sealToPin(files: readonly FetchedFile[], what: DocumentKind): Seal | undefined {
  const seal = files.find((file) => isOfCompleted(file) && file.result.what === what)?.seal?.seal;
  return seal?.state === 'intact' && seal.coverage === 'whole' ? seal : undefined;
}

/** Returns the origin for the current profile. @throws NoProfileError without a profile. */
export async function requireOrigin(session: Session): Promise<Origin> {
  const origin = await originOf(session);
  if (origin !== undefined) return origin;
  throw new NoProfileError('Seals are pinned for a profile, and none is in use.', {
    hint: 'Choose one with --profile. A sandbox started with --ephemeral has no pins.',
  });
}
