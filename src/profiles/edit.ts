import { normalizeBaseUrl } from '../api/base-url.ts';
import { UsageError } from '../kernel/errors.ts';
import { command } from '../kernel/text/shell-words.ts';
import type { Profile, Profiles } from './profile.ts';
import { profileNamed } from './store.ts';

/** What flags can say about a profile; what is absent stays as it is. */
export interface ProfileChanges {
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  apiKeyCommand?: string | undefined;
  apiKeyKeychain?: string | undefined;
  insecureHttp?: boolean | undefined;
  /** Whether an index is kept of its envelopes. */
  index?: boolean | undefined;
  bucket?: string | undefined;
  region?: string | undefined;
  endpoint?: string | undefined;
  pathStyle?: boolean | undefined;
  awsProfile?: string | undefined;
  accessKeyId?: string | undefined;
  secretAccessKey?: string | undefined;
}

const KEY_PLACES = ['apiKey', 'apiKeyCommand', 'apiKeyKeychain'] as const;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** @throws UsageError for a name that would not survive a shell or a file system. */
export function checkName(name: string): void {
  if (NAME.test(name) && name !== '__proto__') return;
  throw new UsageError(`"${name}" can't be the name of a profile.`, {
    hint: 'Use letters, digits, dots, dashes and underscores.',
  });
}

/**
 * A profile with changes applied. An empty text removes a storage setting.
 * @throws UsageError for a base URL or endpoint that is none, or settings that do not go together.
 */
export function applyChanges(profile: Profile | undefined, changes: ProfileChanges): Profile {
  // What was accepted for one address says nothing of another.
  const isMoved = changes.baseUrl !== undefined && changes.baseUrl !== profile?.baseUrl;
  const insecureHttp = changes.insecureHttp ?? (isMoved ? undefined : profile?.insecureHttp);
  const baseUrl = changes.baseUrl ?? profile?.baseUrl;
  if (baseUrl === undefined)
    throw new UsageError('A profile needs --base-url.', { hint: 'Such as https://api.example.com/api/v1.' });
  const next: Profile = { ...profile, baseUrl: normalizeBaseUrl(baseUrl, { insecureHttp }) };
  if (insecureHttp) next.insecureHttp = true;
  else delete next.insecureHttp;
  if (changes.index === false) next.index = false;
  else if (changes.index) delete next.index;
  for (const place of KEY_PLACES) {
    const value = changes[place];
    if (value !== undefined) setKey(next, place, value);
  }
  const storage = changedStorage(profile?.storage, changes);
  if (Object.keys(storage).length > 0) next.storage = storage;
  else delete next.storage;
  return next;
}

function setKey(profile: Profile, place: (typeof KEY_PLACES)[number], value: string): void {
  for (const other of KEY_PLACES) delete profile[other];
  profile[place] = value;
}

function changedStorage(
  before: Profile['storage'],
  changes: ProfileChanges,
): NonNullable<Profile['storage']> {
  const { bucket, region, endpoint, pathStyle, awsProfile, accessKeyId, secretAccessKey } = changes;
  if (endpoint) checkEndpoint(endpoint);
  const wanted = { bucket, region, endpoint, pathStyle, awsProfile, accessKeyId, secretAccessKey };
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
  const merged = { ...before, ...Object.fromEntries(given) };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== ''));
}

/** @throws UsageError for an endpoint that is no http(s) URL, or that carries credentials: they would be shown with it. */
export function checkEndpoint(endpoint: string): void {
  const example = 'Write it with its scheme, like https://s3.example.com.';
  if (!/^https?:\/\/[^/]/.test(endpoint) || !URL.canParse(endpoint))
    throw new UsageError(`The endpoint "${endpoint}" is not a URL.`, { hint: example });
  const { username, password } = new URL(endpoint);
  if (username || password)
    throw new UsageError('The endpoint must not carry a user name or password.', {
      hint: `${example} Credentials: --access-key-id, or the AWS chain.`,
    });
}

/** Adds a profile; the first one becomes the current one. */
export function addProfile(store: Profiles, name: string, profile: Profile): void {
  if (Object.hasOwn(store.profiles, name)) {
    throw new UsageError(`There is a profile named ${name} already.`, {
      hint: `Change it: \`${command('profiles', 'edit', name)} …\`.`,
    });
  }
  store.profiles[name] = profile;
  store.current ??= name;
}

/** Writes a profile over an earlier one of that name; current only if there was none. */
export function putProfile(store: Profiles, name: string, profile: Profile): void {
  store.profiles[name] = profile;
  store.current ??= name;
}

/** Removes a profile. When it was the current one, there is none until another is chosen. */
export function removeProfile(store: Profiles, name: string): void {
  profileNamed(store, name);
  delete store.profiles[name];
  if (store.current === name) store.current = undefined;
}
