import { randomBytes } from 'node:crypto';
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

const SERVICE = 'esign-cli';
/** The time limit for the keychain: enough to unlock it in a dialog, but not so much that a command hangs without a user. */
const TIMEOUT_MS = 30_000;

/**
 * Stores a key in the system's keychain, under a new account.
 * @returns the account, which identifies the key.
 * @throws UsageError if no keychain is available.
 */
async function saveToKeychain(key: string, signal?: AbortSignal): Promise<string> {
  const account = `key-${randomBytes(9).toString('base64url')}`;
  await withTimeout(signal, async (entry, timeLimit) => entry(account).setPassword(key, timeLimit));
  return account;
}

/**
 * Returns the key stored under an account.
 * @throws UsageError if the keychain doesn't respond or no longer has the key.
 */
export async function readFromKeychain(account: string, signal?: AbortSignal): Promise<string> {
  const key = await withTimeout(signal, (entry, timeLimit) => entry(account).getPassword(timeLimit));
  if (key) return key;
  throw new UsageError('The API key is no longer in the keychain.', {
    hint: 'Store it again with `esign profiles edit NAME --api-key-stdin`.',
  });
}

/** Removes the key stored under an account, if there is one. */
async function removeFromKeychain(account: string): Promise<void> {
  await withTimeout(undefined, (entry, timeLimit) => entry(account).deletePassword(timeLimit));
}

async function withTimeout<T>(
  signal: AbortSignal | undefined,
  use: (entry: Awaited<ReturnType<typeof entries>>, timeLimit: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const timeLimit = signal ? AbortSignal.any([signal, timeout]) : timeout;
  try {
    return await use(await entries(), timeLimit);
  } catch (error) {
    signal?.throwIfAborted();
    const why = timeout.aborted ? `it did not respond within ${TIMEOUT_MS / 1_000} s` : reasonOf(error);
    throw new UsageError(`The keychain can't be used: ${why}.`, {
      cause: error,
      hint: 'Unlock it, set ESIGN_API_KEY, or store the key in the file: `esign profiles edit NAME --no-keychain --api-key-stdin`.',
    });
  }
}

/** Loads the keychain package. It is optional because it contains native code, which isn't available for every system. */
async function entries() {
  const { AsyncEntry } = await import('@napi-rs/keyring');
  // The kernel's keyring is never used, because it is cleared by a restart.
  return (account: string) => new AsyncEntry(SERVICE, account, { linux: { store: 'secret-service' } });
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no reason given';
  if ('code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return 'it is not supported on this system';
  return error.message.replace(/^Platform failure: /, '').replace(/\.$/, '');
}
