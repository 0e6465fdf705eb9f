import { type EsignError, UsageError } from '../kernel/errors.ts';
import type { ProfileChanges } from './edit.ts';
import { readFromKeychain, removeFromKeychain, saveToKeychain } from './keychain.ts';
import type { Profile } from './profile.ts';
import type { Settings } from './resolve.ts';

/** Returns the key, wherever it is stored. */
export async function readKey(
  { kind, value }: NonNullable<Settings['apiKey']>,
  signal?: AbortSignal,
): Promise<string> {
  if (kind === 'command') return (await import('./key-command.ts')).readKeyFromCommand(value, signal);
  return kind === 'keychain' ? readFromKeychain(value, signal) : value;
}

export interface KeyStorage {
  /** The changes, including the key as it is to be stored. */
  changes: ProfileChanges;
  /** Why the keychain couldn't be used although it was requested. The key is then stored in the file. */
  refused?: EsignError;
}

/**
 * Decides where to store a profile's key, and stores it if that is the keychain. By default, a new key is stored in the same
 * place as the old one. For a new profile, that is the file.
 * @throws UsageError if the profile has no stored key to move.
 */
export async function storeKey(
  changes: ProfileChanges,
  before: Profile | undefined,
  keychain: boolean | undefined,
  signal?: AbortSignal,
): Promise<KeyStorage> {
  const held = before?.apiKeyKeychain;
  if (keychain === undefined && changes.apiKey === undefined) return { changes };
  if (changes.apiKey === undefined && (held !== undefined) === keychain) return { changes };
  const apiKey =
    changes.apiKey ?? (held === undefined ? before?.apiKey : await readFromKeychain(held, signal));
  if (apiKey === undefined)
    throw new UsageError('The key comes from a command, so there is no stored key to move.', {
      hint: 'Provide the key with --api-key-stdin.',
    });
  if (!(keychain ?? held !== undefined)) return { changes: { ...changes, apiKey } };
  try {
    const apiKeyKeychain = await saveToKeychain(apiKey, signal);
    return { changes: { ...changes, apiKey: undefined, apiKeyKeychain } };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { changes: { ...changes, apiKey }, refused: error };
  }
}

/** Removes an unused key from the keychain. Returns true if none is left there. */
export async function removeKey(
  before: Profile | undefined,
  after: Pick<Profile, 'apiKeyKeychain'> | undefined,
): Promise<boolean> {
  const account = before?.apiKeyKeychain;
  if (account === undefined || account === after?.apiKeyKeychain) return true;
  try {
    await removeFromKeychain(account);
    return true;
  } catch {
    return false;
  }
}
