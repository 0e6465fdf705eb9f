import { randomBytes } from 'node:crypto';
import { UsageError } from '../kernel/errors.ts';

const SERVICE = 'esign-cli';
/** The time limit for the keychain: enough to unlock it in a dialog, but not so much that a command hangs without a user. */
const TIMEOUT_MS = 30_000;

/**
 * Stores a key in the system's keychain, under a new account.
 * @returns the account, which identifies the key.
 * @throws UsageError if no keychain is available.
 */
export async function saveToKeychain(key: string, signal?: AbortSignal): Promise<string> {
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
export async function removeFromKeychain(account: string): Promise<void> {
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
