import type { Session } from '../../cli/session.ts';
import type { SealSource } from '../../documents/download/seals.ts';
import { type Origin, pinnedFor, readPins } from '../../documents/seal/pins.ts';
import { readAuthorities, type TrustedSigners } from '../../documents/seal/trust.ts';
import { NoProfileError, UsageError } from '../../kernel/errors.ts';
import { stateDir } from '../../kernel/files/paths.ts';

/** Returns the origin of this run's documents, or undefined without a profile or for an ephemeral sandbox. */
export async function originOf(session: Session): Promise<Origin | undefined> {
  const { profileName, profile, baseUrl } = await session.settings();
  if (profileName === undefined || profile === undefined || baseUrl === undefined) return undefined;
  return profile.ephemeral === true ? undefined : { profile: profileName.value, baseUrl: baseUrl.value };
}

/**
 * Returns where the documents of this run come from, for checking their seals.
 * @throws UsageError if the pins can't be read, because then nothing must be downloaded.
 */
export async function sealSourceOf(session: Session): Promise<SealSource> {
  const [folder, origin] = [stateDir(), await originOf(session)];
  if (origin !== undefined) await readPins(folder);
  return { folder, origin, clock: session.clock };
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

/** Returns the origin for the current profile. @throws NoProfileError without a profile. */
export async function requireOrigin(session: Session): Promise<Origin> {
  const origin = await originOf(session);
  if (origin !== undefined) return origin;
  throw new NoProfileError('Seals are pinned per profile, and no profile is in use.', {
    hint: 'Choose one with --profile. A sandbox started with --ephemeral has no pins.',
  });
}
