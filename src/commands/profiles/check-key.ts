import type { Context } from '../../cli/context.ts';
import { NetworkError } from '../../kernel/errors.ts';
import type { Profile } from '../../profiles/profile.ts';
import { verifyKey } from '../../profiles/verify.ts';

/**
 * Checks the key of a profile that is about to be stored, with a request to the service.
 * @throws NetworkError with a hint for storing it anyway, if the service can't be reached.
 */
export async function checkKey(profile: Profile, context: Context): Promise<void> {
  try {
    await verifyKey(await context.session.clientOf(profile), context.interrupt.signal);
  } catch (error) {
    if (!(error instanceof NetworkError)) throw error;
    const { message, hint, maybeReceived } = error;
    // The profile is not stored yet, so a hint about `profiles show` would show another one.
    const own =
      hint === undefined || hint.includes('profiles show')
        ? 'Check the base URL and your network connection.'
        : hint;
    throw new NetworkError(error.code === 'TIMEOUT' ? 'TIMEOUT' : 'NETWORK', message, {
      cause: error,
      maybeReceived,
      hint: `${own} Nothing was stored. To store the settings without checking them, add --no-verify.`,
    });
  }
}
