import type { Session } from '../../cli/session/session.ts';
import { configDir } from '../../kernel/files/paths.ts';
import { readFingerprint } from '../../settings/profile-changes.ts';
import { pinnedFingerprintOf } from '../../settings/resolve.ts';
import { updateProfiles } from '../../settings/update-store.ts';
import type { SealSource } from '../download/seals.ts';
import { readAuthorities, type TrustedSigners } from '../seal/trust.ts';

/**
 * Returns where the documents of this run come from, for checking their seals. Without a profile, or for an ephemeral sandbox, nothing is
 * pinned.
 */
export async function sealSourceOf(session: Session): Promise<SealSource> {
  const settings = await session.settings();
  const { profileName, profile, baseUrl } = settings;
  const canPin =
    profileName !== undefined && profile?.baseUrl === baseUrl?.value && profile?.ephemeral !== true;
  return {
    pin: pinnedFingerprintOf(settings),
    pinFirst: canPin ? (fingerprint) => pinFirst(profileName.value, baseUrl?.value, fingerprint) : undefined,
    sealedPart: profile?.sealedPart === true,
  };
}

/** Pins a certificate for a profile, unless another process has pinned one or moved the profile. Returns the pin. */
async function pinFirst(
  name: string,
  baseUrl: string | undefined,
  fingerprint: string,
): Promise<string | undefined> {
  let pin: string | undefined;
  await updateProfiles(configDir(), ({ profiles }) => {
    const profile = profiles[name];
    if (profile?.baseUrl !== baseUrl || profile === undefined) return;
    profile.pin ??= fingerprint;
    ({ pin } = profile);
  });
  return pin;
}

/** Returns the signers that are trusted in this run: the pinned one, and those named by flags. */
export async function readKnownSigners(
  { trust, 'sealed-by': sealedBy = [] }: SignerFlags,
  session: Session,
): Promise<TrustedSigners> {
  const settings = await session.settings();
  return {
    authorities: trust === undefined ? [] : await readAuthorities(trust),
    pin: pinnedFingerprintOf(settings),
    sealedBy: sealedBy.map(readFingerprint),
  };
}

interface SignerFlags {
  trust?: string | undefined;
  'sealed-by'?: readonly string[] | undefined;
}
