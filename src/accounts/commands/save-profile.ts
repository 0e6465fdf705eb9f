import { rebuildCommand } from '../../cli/rebuild-command.ts';
import type { Context } from '../../cli/session/context.ts';
import { BadResponseError, NetworkError, NoApiError, ServiceError } from '../../kernel/errors.ts';
import { configDir } from '../../kernel/files/paths.ts';
import { command } from '../../kernel/text/shell-words.ts';
import type { Profile, Profiles } from '../../settings/profile.ts';
import { applyChanges, type ProfileChanges } from '../../settings/profile-changes.ts';
import { updateProfiles } from '../../settings/update-store.ts';
import { verifyKey } from '../../settings/verify-key.ts';
import { type ProfileFlagValues, readProfileChanges } from './profile-flags.ts';
import type { SavedProfile } from './profile-text.ts';

type PutProfile = (store: Profiles, profile: Profile, changes: ProfileChanges) => void;

/**
 * Reads the changes to a profile, checks the key, stores both, and returns the new profile. `put` adds the new profile to the store. `before` is undefined for a new profile.
 */
export async function saveProfile(
  name: string,
  flags: ProfileFlagValues & { verify: boolean },
  { before, put }: { before?: Profile; put: PutProfile },
  context: Context,
): Promise<SavedProfile> {
  const changes = await readProfileChanges(flags, before === undefined, context.terminal);
  const reached = changes.baseUrl ?? changes.apiKey ?? changes.apiKeyCommand;
  if (flags.verify && reached !== undefined)
    await checkKey(name, applyChanges(before, changes), before === undefined, context);
  const profile = applyChanges(before, changes);
  const store = await updateProfiles(configDir(), (profiles) => put(profiles, profile, changes));
  return { name, current: store.current === name, profile, currentName: store.current };
}

/**
 * Checks the key of a profile that is about to be stored, with a request to the service.
 * @throws ServiceError with the command to try again if the key is refused, BadResponseError if the base URL is not the API's, or
 * NetworkError with a hint for storing it anyway if the service can't be reached.
 */
async function checkKey(name: string, profile: Profile, isNew: boolean, context: Context): Promise<void> {
  try {
    await verifyKey(await context.session.clientOf(profile), context.interrupt.signal);
  } catch (error) {
    const again = isNew
      ? command('profiles', 'add', name, '--base-url', profile.baseUrl)
      : command('profiles', 'edit', name, '--api-key-file', '-');
    const unchecked = rebuildCommand(context.session.words, { add: ['--no-verify'] });
    throw withNothingStored(error, { again, unchecked }, profile.baseUrl);
  }
}

/** The commands that try again: with a prompt for another key, and without the check. */
interface NextTry {
  again: string;
  unchecked: string;
}

/** Adds to the error of the check that nothing was stored. The profile is not stored yet, so `profiles show` would show another one. */
function withNothingStored(error: unknown, { again, unchecked }: NextTry, baseUrl: string): unknown {
  if (error instanceof NoApiError) {
    const fix = error.likely === undefined ? 'Check the base URL.' : `Did you mean ${error.likely}?`;
    return new NoApiError(baseUrl, error.likely, `${fix} Nothing was stored.`);
  }
  if (error instanceof ServiceError && error.code === 'UNAUTHORIZED')
    return new ServiceError(error.code, error.message, {
      cause: error,
      status: error.status,
      hint: `Nothing was stored. Check the key and run \`${again}\` again.`,
    });
  if (error instanceof BadResponseError)
    return new BadResponseError(error.message, {
      cause: error,
      status: error.status,
      hint: `${error.hint ?? ''} Nothing was stored.`.trim(),
    });
  if (!(error instanceof NetworkError)) return error;
  const { message, hint, maybeReceived } = error;
  const own =
    hint === undefined || hint.includes('profiles show')
      ? 'Check the base URL and your network connection.'
      : hint;
  return new NetworkError(error.code === 'TIMEOUT' ? 'TIMEOUT' : 'NETWORK', message, {
    cause: error,
    maybeReceived,
    hint: `${own} Nothing was stored. To store the settings without checking them, run \`${unchecked}\`.`,
  });
}
