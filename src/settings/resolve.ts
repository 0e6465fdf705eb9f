import { normalizeBaseUrl } from '../api/base-url.ts';
import { REQUEST_TIMEOUT_MS } from '../api/request-defaults.ts';
import { readDuration } from '../kernel/duration-input.ts';
import { NoProfileError, UsageError } from '../kernel/errors.ts';
import { usableKey } from '../kernel/text/api-key.ts';
import type { Profile, Profiles, StorageSettings } from './profile.ts';
import { checkStorage } from './profile-changes.ts';
import { profileNamed } from './store.ts';

export type SettingSource = 'flag' | 'environment' | 'profile' | 'default';

export interface SettingWithSource<T> {
  value: T;
  source: SettingSource;
}

export interface ResolveInput {
  flags: { profile?: string | undefined; baseUrl?: string | undefined; timeout?: string | undefined };
  env: Readonly<Record<string, string | undefined>>;
  store: Profiles;
  /** The profile to use if neither a flag nor the environment names one. By default, the store's current profile. */
  fallbackProfile?: string | undefined;
}

/** All settings of a run. Flags have priority over the environment, the profile, and defaults, in this order. */
export interface Settings {
  profileName: SettingWithSource<string> | undefined;
  profile: Profile | undefined;
  baseUrl: SettingWithSource<string> | undefined;
  /** The key itself, or the command that prints it. */
  apiKey: (SettingWithSource<string> & { kind: 'key' | 'command' }) | undefined;
  timeoutMs: SettingWithSource<number>;
  storage: StorageSettings;
  storageSource: SettingSource;
}

/** Returns the fingerprint of the certificate that seals documents, if the profile has one for the base URL in use. */
export function pinnedFingerprintOf({
  profile,
  baseUrl,
}: Pick<Settings, 'profile' | 'baseUrl'>): string | undefined {
  return baseUrl?.value === profile?.baseUrl ? profile?.pin : undefined;
}

/**
 * Determines the settings of a run.
 * @throws NotFoundError for a profile that doesn't exist, or UsageError for an invalid timeout or base URL, or an explicit --profile
 * together with ESIGN_API_KEY, because it is unclear which of the two keys is meant.
 */
export function resolveSettings(input: ResolveInput): Settings {
  const { flags, env } = input;
  if (flags.profile !== undefined && env.ESIGN_API_KEY) {
    throw new UsageError('Both --profile and ESIGN_API_KEY are set, so it is unclear which key to use.', {
      hint: 'Use only one: `unset ESIGN_API_KEY`, or remove --profile.',
    });
  }
  const profileName = nameOfProfile(input);
  const profile = profileName === undefined ? undefined : profileNamed(input.store, profileName.value);
  return {
    profileName,
    profile,
    baseUrl: baseUrlOf(input, profile),
    apiKey: apiKeyOf(env, profile),
    timeoutMs: timeoutOf(input),
    ...storageOf(env, profile),
  };
}

function nameOfProfile({
  flags,
  env,
  store,
  fallbackProfile,
}: ResolveInput): SettingWithSource<string> | undefined {
  if (flags.profile !== undefined) return { value: flags.profile, source: 'flag' };
  const named = env.ESIGN_PROFILE?.trim();
  if (named) return { value: named, source: 'environment' };
  // If both are set in the environment, no profile is needed, and an invalid one must not cause an error.
  if (env.ESIGN_BASE_URL && env.ESIGN_API_KEY) return undefined;
  if (fallbackProfile !== undefined && Object.hasOwn(store.profiles, fallbackProfile)) {
    return { value: fallbackProfile, source: 'default' };
  }
  return store.current === undefined ? undefined : { value: store.current, source: 'default' };
}

function baseUrlOf(input: ResolveInput, profile: Profile | undefined): SettingWithSource<string> | undefined {
  const candidates: [string | undefined, SettingSource][] = [
    [input.flags.baseUrl, 'flag'],
    [input.env.ESIGN_BASE_URL || undefined, 'environment'],
    [profile?.baseUrl, 'profile'],
  ];
  for (const [value, source] of candidates) {
    if (value !== undefined)
      return { value: normalizeBaseUrl(value, { insecureHttp: isInsecure(value, profile) }), source };
  }
  return undefined;
}

/** Returns true if plain http is allowed. A profile's permission applies only to its own address. */
function isInsecure(baseUrl: string, profile: Profile | undefined): boolean {
  const same = (text: string) => text.replace(/\/+$/, '');
  return profile?.insecureHttp === true && same(baseUrl) === same(profile.baseUrl);
}

function apiKeyOf(env: ResolveInput['env'], profile: Profile | undefined): Settings['apiKey'] {
  const fromEnvironment = env.ESIGN_API_KEY?.trim();
  if (fromEnvironment)
    return { value: usableKey(fromEnvironment, 'ESIGN_API_KEY'), source: 'environment', kind: 'key' };
  if (profile?.apiKey !== undefined) return { value: profile.apiKey, source: 'profile', kind: 'key' };
  if (profile?.apiKeyCommand !== undefined)
    return { value: profile.apiKeyCommand, source: 'profile', kind: 'command' };
  return undefined;
}

/**
 * Returns the storage settings. ESIGN_BUCKET and related variables are used together or not at all, because one account's credentials
 * or endpoint rarely fit another's bucket.
 */
function storageOf(
  env: ResolveInput['env'],
  profile: Profile | undefined,
): Pick<Settings, 'storage' | 'storageSource'> {
  const bucket = env.ESIGN_BUCKET?.trim();
  if (profile !== undefined && !bucket) return { storage: profile.storage ?? {}, storageSource: 'profile' };
  const region = env.ESIGN_BUCKET_REGION?.trim();
  const endpoint = env.ESIGN_BUCKET_ENDPOINT?.trim();
  checkStorage({ bucket, region, endpoint });
  const given = Object.entries({ bucket, region, endpoint }).filter(([, value]) => value);
  return { storage: Object.fromEntries(given), storageSource: 'environment' };
}

function timeoutOf({ flags, env }: ResolveInput): SettingWithSource<number> {
  const source: SettingSource =
    flags.timeout !== undefined ? 'flag' : env.ESIGN_TIMEOUT ? 'environment' : 'default';
  const text = flags.timeout ?? (env.ESIGN_TIMEOUT || undefined);
  if (text === undefined) return { value: REQUEST_TIMEOUT_MS, source };
  return { value: readDuration(text, 'The timeout', 1), source };
}

/**
 * Refuses to send a key to a base URL other than its own, unless --base-url is given explicitly.
 * @throws UsageError if one comes from the environment and the other from a profile.
 */
function refuseMixedSelection(
  baseUrl: SettingWithSource<string>,
  apiKey: SettingWithSource<string>,
  profile: string,
): void {
  if (baseUrl.source === 'flag' || baseUrl.source === apiKey.source) return;
  if (apiKey.source === 'profile')
    throw new UsageError(
      `ESIGN_BASE_URL (${baseUrl.value}) is set, but the key comes from profile ${profile}. A key is sent only to the base URL it was stored with.`,
      {
        hint: `Set its key in ESIGN_API_KEY, or \`unset ESIGN_BASE_URL\`. To combine them anyway, pass --base-url ${baseUrl.value}`,
      },
    );
  throw new UsageError(
    `ESIGN_API_KEY is set, but the base URL comes from profile ${profile}. A key is sent only to the base URL it was stored with.`,
    {
      hint: `Set its base URL in ESIGN_BASE_URL, or \`unset ESIGN_API_KEY\`. To combine them anyway, pass --base-url ${baseUrl.value}`,
    },
  );
}

const ADD_PROFILE = [
  'Use your account:  `esign profiles add`',
  'Try the sandbox:   `esign sandbox start`',
  'In scripts, set ESIGN_BASE_URL and ESIGN_API_KEY.',
].join('\n');

/** Returns the error for an account that is not configured, with the ways to do that. */
export function noProfileError(): InstanceType<typeof NoProfileError> {
  return new NoProfileError('No profile is configured.', { hint: ADD_PROFILE });
}

/**
 * Returns the base URL and the key, which are both required for requests to the service.
 * @throws NoProfileError with the ways to set them, or UsageError if the two don't belong together.
 */
export function requireConnection(settings: Settings): {
  baseUrl: string;
  apiKey: NonNullable<Settings['apiKey']>;
} {
  if (settings.baseUrl === undefined) throw noProfileError();
  if (settings.apiKey === undefined) throw new NoProfileError('No API key is set.', { hint: ADD_PROFILE });
  refuseMixedSelection(settings.baseUrl, settings.apiKey, settings.profileName?.value ?? '');
  return { baseUrl: settings.baseUrl.value, apiKey: settings.apiKey };
}
