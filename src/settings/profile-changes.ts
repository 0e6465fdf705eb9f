import { normalizeBaseUrl } from '../api/base-url.ts';
import { UsageError } from '../kernel/errors.ts';
import { command } from '../kernel/text/shell-words.ts';
import type { Profile, ProfileGuards, Profiles } from './profile.ts';
import { profileNamed } from './store.ts';

/** Changes to a profile. Settings that are not given are kept. */
export interface ProfileChanges {
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  apiKeyCommand?: string | undefined;
  insecureHttp?: boolean | undefined;
  /** Whether to keep a local index of its envelopes. */
  index?: boolean | undefined;
  /** The fingerprint of the certificate that seals the documents; null removes the pin. */
  pin?: string | null | undefined;
  sealedPart?: boolean | undefined;
  guards?: GuardChanges | undefined;
  bucket?: string | undefined;
  region?: string | undefined;
  endpoint?: string | undefined;
  pathStyle?: boolean | undefined;
  awsProfile?: string | undefined;
  accessKeyId?: string | undefined;
  secretAccessKey?: string | undefined;
}

/** Changes to the guards. Null removes a guard. */
export interface GuardChanges {
  readOnly?: boolean | undefined;
  onlyTo?: readonly string[] | null | undefined;
  maxEmails?: number | null | undefined;
  confirmName?: boolean | undefined;
}

const KEY_PLACES = ['apiKey', 'apiKeyCommand'] as const;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** @throws UsageError for a name that isn't safe in a shell or a file system */
export function checkName(name: string): void {
  if (NAME.test(name) && name !== '__proto__') return;
  throw new UsageError(`"${name}" is not a valid profile name.`, {
    hint: 'Use letters, digits, dots, dashes, and underscores.',
  });
}

/**
 * Returns a profile with changes applied. An empty text removes a storage setting.
 * @throws UsageError for an invalid base URL or endpoint, or for conflicting settings.
 */
export function applyChanges(profile: Profile | undefined, changes: ProfileChanges): Profile {
  // Permissions for one address don't apply to another.
  const isMoved = changes.baseUrl !== undefined && changes.baseUrl !== profile?.baseUrl;
  const insecureHttp = changes.insecureHttp ?? (isMoved ? undefined : profile?.insecureHttp);
  const baseUrl = changes.baseUrl ?? profile?.baseUrl;
  if (baseUrl === undefined)
    throw new UsageError('A profile needs --base-url.', { hint: 'Example: https://api.example.com/api/v1' });
  const next: Profile = { ...profile, baseUrl: normalizeBaseUrl(baseUrl, { insecureHttp }) };
  if (insecureHttp) next.insecureHttp = true;
  else delete next.insecureHttp;
  applySettings(next, changes, isMoved);
  const place = KEY_PLACES.find((one) => changes[one] !== undefined);
  if (place !== undefined) {
    for (const other of KEY_PLACES) delete next[other];
    next[place] = changes[place];
  }
  const guards = changedGuards(profile?.guards, changes.guards);
  const storage = changedStorage(profile?.storage, changes);
  const { guards: _guards, storage: _storage, ...rest } = next;
  return {
    ...rest,
    ...(Object.keys(guards).length > 0 && { guards }),
    ...(Object.keys(storage).length > 0 && { storage }),
  };
}

/** Applies the settings about the envelopes and documents of the profile's base URL. */
function applySettings(next: Profile, { index, pin, sealedPart }: ProfileChanges, isMoved: boolean): void {
  if (isMoved) {
    delete next.sandbox;
    delete next.pin;
  }
  if (index === false) next.index = false;
  else if (index) delete next.index;
  if (pin === null) delete next.pin;
  else if (pin !== undefined) next.pin = readFingerprint(pin);
  if (sealedPart) next.sealedPart = true;
  else if (sealedPart === false) delete next.sealedPart;
}

/** Parses a SHA-256 in hexadecimal, with or without colons. @throws UsageError for anything else. */
export function readFingerprint(text: string): string {
  const fingerprint = text.replaceAll(':', '').toLowerCase();
  if (/^[0-9a-f]{64}$/.test(fingerprint)) return fingerprint;
  throw new UsageError('A fingerprint has 64 hexadecimal digits: the SHA-256 of a certificate.', {
    hint: '`esign documents verify FILE --json` shows it as seal.fingerprint.',
  });
}

function changedGuards(before: ProfileGuards | undefined, changes: GuardChanges = {}): ProfileGuards {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const merged = { ...before, ...Object.fromEntries(given) };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null && value !== false));
}

function changedStorage(
  before: Profile['storage'],
  changes: ProfileChanges,
): NonNullable<Profile['storage']> {
  const { bucket, region, endpoint, pathStyle, awsProfile, accessKeyId, secretAccessKey } = changes;
  checkStorage({ bucket, region, endpoint });
  const bucketSettings = { bucket, region, endpoint, pathStyle, awsProfile, accessKeyId, secretAccessKey };
  const given = Object.entries(bucketSettings).filter(([, value]) => value !== undefined);
  const merged = { ...before, ...Object.fromEntries(given) };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== ''));
}

/** @throws UsageError for an ARN or address instead of a bucket's name, a region's title instead of its code, and an invalid endpoint. */
export function checkStorage({
  bucket,
  region,
  endpoint,
}: Pick<ProfileChanges, 'bucket' | 'region' | 'endpoint'>): void {
  const [, name] = /^(?:arn:[\w-]+:s3:::|s3:\/\/|https?:\/\/)([\w.-]*)/.exec(bucket ?? '') ?? [];
  if (name !== undefined)
    throw new UsageError(`"${bucket}" is not the name of a bucket.`, {
      hint: /^http/.test(bucket ?? '')
        ? 'Use only its name; the address is the endpoint.'
        : `Use only its name: ${name}.`,
    });
  if (region && /[^\w.-]/.test(region))
    throw new UsageError(`"${region}" is not the code of a region.`, {
      hint: 'Use a code such as eu-west-1.',
    });
  if (endpoint) checkEndpoint(endpoint);
}

/** @throws UsageError for an endpoint that is not an http(s) URL or contains credentials, which would be displayed */
function checkEndpoint(endpoint: string): void {
  const example = 'Include the scheme, as in https://s3.example.com.';
  if (!/^https?:\/\/[^/]/.test(endpoint) || !URL.canParse(endpoint))
    throw new UsageError(`The endpoint "${endpoint}" is not a URL.`, { hint: example });
  const { username, password } = new URL(endpoint);
  if (username || password)
    throw new UsageError('The endpoint must not contain a username or password.', {
      hint: `${example} Pass credentials with --access-key-id, or use the AWS default chain.`,
    });
}

/** @throws UsageError for a name that is invalid or taken */
export function checkNewName(store: Profiles, name: string): void {
  checkName(name);
  if (Object.hasOwn(store.profiles, name)) {
    throw new UsageError(`Profile ${name} already exists.`, {
      hint: `To change it, see \`${command('profiles', 'edit', '--help')}\`. To replace its key, run \`${command('profiles', 'edit', name, '--api-key-file', '-')}\`.`,
    });
  }
}

/** Adds a profile. The first one becomes the current profile. @throws UsageError as `checkNewName` does */
export function addProfile(store: Profiles, name: string, profile: Profile): void {
  checkNewName(store, name);
  putProfile(store, name, profile);
}

/** Creates or replaces a profile. It becomes the current profile if none is selected. */
export function putProfile(store: Profiles, name: string, profile: Profile): void {
  store.profiles[name] = profile;
  store.current ??= name;
}

/** Removes a profile. If it was the current one, no profile is selected until the user chooses another. */
export function removeProfile(store: Profiles, name: string): void {
  profileNamed(store, name);
  delete store.profiles[name];
  if (store.current === name) store.current = undefined;
}
