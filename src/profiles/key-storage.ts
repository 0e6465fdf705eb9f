import { randomBytes } from 'node:crypto';
import type { AsyncEntry } from '@napi-rs/keyring';
import { type EsignError, UsageError } from '../kernel/errors.ts';
import type { ProfileChanges } from './edit.ts';
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
    const apiKeyKeychain = `key-${randomBytes(9).toString('base64url')}`;
    await useKeychain(apiKeyKeychain, signal, async (entry, limit) => entry.setPassword(apiKey, limit));
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
    await useKeychain(account, undefined, (entry, limit) => entry.deletePassword(limit));
    return true;
  } catch {
    return false;
  }
}

const SERVICE = 'esign-cli';
/** The time limit for the keychain: enough to unlock it in a dialog, but not so much that a command hangs without a user. */
const TIMEOUT_MS = 30_000;

/**
 * Returns the key stored under an account.
 * @throws UsageError if the keychain doesn't respond or no longer has the key.
 */
export async function readFromKeychain(account: string, signal?: AbortSignal): Promise<string> {
  const key = await useKeychain(account, signal, (entry, limit) => entry.getPassword(limit));
  if (key) return key;
  throw new UsageError('The API key is no longer in the keychain.', {
    hint: 'Store it again with `esign profiles edit NAME --api-key-stdin`.',
  });
}

/** Uses the entry of an account in the system's keychain. @throws UsageError if it can't be used. */
async function useKeychain<T>(
  account: string,
  signal: AbortSignal | undefined,
  use: (entry: AsyncEntry, limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const limit = signal ? AbortSignal.any([signal, timeout]) : timeout;
  try {
    // Optional, because it contains native code, which isn't available for every system.
    const { AsyncEntry: Entry } = await import('@napi-rs/keyring');
    // The kernel's keyring is never used, because it is cleared by a restart.
    return await use(new Entry(SERVICE, account, { linux: { store: 'secret-service' } }), limit);
  } catch (error) {
    signal?.throwIfAborted();
    const why = timeout.aborted ? `it did not respond within ${TIMEOUT_MS / 1_000} s` : reasonOf(error);
    throw new UsageError(`The keychain can't be used: ${why}.`, {
      cause: error,
      hint: 'Unlock it, set ESIGN_API_KEY, or store the key in the file: `esign profiles edit NAME --no-keychain --api-key-stdin`.',
    });
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no reason given';
  if ('code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return 'it is not supported on this system';
  return error.message.replace(/^Platform failure: /, '').replace(/\.$/, '');
}
