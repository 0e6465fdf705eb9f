import { judgeSeal, type Known, type SealVerdict } from '../../documents/seal/judge.ts';
import { type Origin, pinFirst, pinnedFor, readPins } from '../../documents/seal/pins.ts';
import { type CheckedSeal, checkSeal } from '../../documents/seal/seal.ts';
import { readAuthorities } from '../../documents/seal/trust.ts';
import { NoProfileError } from '../../kernel/errors.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import type { Context } from '../context.ts';

/** Where the papers of this run come from; undefined where no profile says so, or it is a sandbox for a while. */
export async function originOf(context: Context): Promise<Origin | undefined> {
  const { profileName, profile, baseUrl } = await context.settings();
  if (profileName === undefined || profile === undefined || baseUrl === undefined) return undefined;
  return profile.ephemeral === true ? undefined : { profile: profileName.value, baseUrl: baseUrl.value };
}

/** By what the signers of this run's papers are known. */
async function knownTo(context: Context, authorities: string | undefined): Promise<Known> {
  const origin = await originOf(context);
  return {
    authorities: authorities === undefined ? [] : readAuthorities(authorities),
    pinned: origin === undefined ? [] : pinnedFor(await readPins(stateDir()), origin),
  };
}

export interface JudgeFlags {
  trust?: string | undefined;
  'require-seal': boolean;
}

/** What judges seals without learning anything from them. */
export async function sealJudge(
  flags: JudgeFlags,
  context: Context,
): Promise<(path: string) => Promise<SealVerdict>> {
  const known = await knownTo(context, flags.trust);
  return async (path) => judgeSeal(await checkSeal(path), known, flags['require-seal']);
}

/** What judges the seals of downloads, one after another, and pins the first one. */
export async function pinningJudge(
  context: Context,
): Promise<(checked: CheckedSeal) => Promise<SealVerdict>> {
  const origin = await originOf(context);
  let known = await knownTo(context, undefined);
  return async (checked) => {
    const verdict = judgeSeal(checked, known);
    const { fingerprint, subject, coverage, state } = verdict.seal;
    const isGood = state === 'intact' && coverage === 'whole' && fingerprint !== null;
    if (origin === undefined || !isGood || known.pinned.length > 0) return verdict;
    const pin = {
      ...origin,
      fingerprint,
      subject: subject ?? '',
      since: new Date(context.clock.now()).toISOString(),
    };
    known = { ...known, pinned: pinnedFor(await pinFirst(stateDir(), pin), origin) };
    return judgeSeal(checked, known);
  };
}

/** The origin of the profile in use. @throws NoProfileError without one. */
export async function requireOrigin(context: Context): Promise<Origin> {
  const origin = await originOf(context);
  if (origin !== undefined) return origin;
  throw new NoProfileError('Seals are pinned for a profile, and none is in use.', {
    hint: 'Name one with --profile; a sandbox started with --ephemeral has no pins.',
  });
}
