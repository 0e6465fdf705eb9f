import { type EsignError, UsageError } from '../kernel/errors.ts';
import type { ProfileChanges } from './edit.ts';
import { dropFromKeychain, keepInKeychain, keyFromKeychain } from './keychain.ts';
import type { Profile } from './profile.ts';
import type { Settings } from './resolve.ts';

/** The key itself, from wherever it is kept. */
export async function presentKey(
  { kind, value }: NonNullable<Settings['apiKey']>,
  signal?: AbortSignal,
): Promise<string> {
  if (kind === 'command') return (await import('./key-command.ts')).keyFromCommand(value, signal);
  return kind === 'keychain' ? keyFromKeychain(value, signal) : value;
}

export interface Placed {
  /** The changes, with the key where it is to be kept. */
  changes: ProfileChanges;
  /** Why the keychain could not be used, when it was wanted: the key then goes into the file. */
  refused?: EsignError;
}

/**
 * Decides where a profile's key is kept, and puts it into the keychain when that is the place.
 * Where nothing is asked for, a new key stays where the earlier one was: the file, for a new profile.
 * @throws UsageError when there is no key that could be moved.
 */
export async function placeKey(
  changes: ProfileChanges,
  before: Profile | undefined,
  keychain: boolean | undefined,
  signal?: AbortSignal,
): Promise<Placed> {
  const held = before?.apiKeyKeychain;
  if (keychain === undefined && changes.apiKey === undefined) return { changes };
  if (changes.apiKey === undefined && (held !== undefined) === keychain) return { changes };
  const apiKey =
    changes.apiKey ?? (held === undefined ? before?.apiKey : await keyFromKeychain(held, signal));
  if (apiKey === undefined)
    throw new UsageError('The key is printed by a command, so there is none to keep elsewhere.', {
      hint: 'Give the key as well: --api-key-stdin.',
    });
  if (!(keychain ?? held !== undefined)) return { changes: { ...changes, apiKey } };
  try {
    const apiKeyKeychain = await keepInKeychain(apiKey, signal);
    return { changes: { ...changes, apiKey: undefined, apiKeyKeychain } };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { changes: { ...changes, apiKey }, refused: error };
  }
}

/** Takes a key out of the keychain that no profile has any more. True when nothing is left behind. */
export async function forgetKey(
  before: Profile | undefined,
  after: Pick<Profile, 'apiKeyKeychain'> | undefined,
): Promise<boolean> {
  const account = before?.apiKeyKeychain;
  if (account === undefined || account === after?.apiKeyKeychain) return true;
  try {
    await dropFromKeychain(account);
    return true;
  } catch {
    return false;
  }
}
