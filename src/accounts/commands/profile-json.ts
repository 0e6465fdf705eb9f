import { maskKey } from '../../kernel/redaction.ts';
import type { Guards } from '../../settings/guards/guards.ts';
import { publicKeyCommand } from '../../settings/key-command.ts';
import type { Profile } from '../../settings/profile.ts';
import { pinnedFingerprintOf, type Settings } from '../../settings/resolve.ts';

export interface NamedProfile {
  name: string;
  current: boolean;
  profile: Profile;
}

/** Returns a profile that is safe to display: the key is cut to its first 8 characters, and other secrets are left out. */
export function publicProfile({ name, current, profile }: NamedProfile) {
  return {
    name,
    current,
    baseUrl: profile.baseUrl,
    apiKey: profile.apiKey === undefined ? null : maskKey(profile.apiKey),
    apiKeyCommand: profile.apiKeyCommand === undefined ? null : publicKeyCommand(profile.apiKeyCommand),
    apiKeyIn: placeOf(profile),
    index: profile.index !== false,
    pin: profile.pin ?? null,
    sealedPart: profile.sealedPart === true,
    guards: profile.guards ?? null,
    storage: publicStorage(profile.storage),
  };
}

export type PublicProfile = ReturnType<typeof publicProfile>;

function placeOf(profile: Profile): 'file' | 'command' | null {
  if (profile.apiKey !== undefined) return 'file';
  return profile.apiKeyCommand === undefined ? null : 'command';
}

function publicStorage(storage: Profile['storage']) {
  if (storage === undefined || Object.keys(storage).length === 0) return null;
  return {
    bucket: storage.bucket ?? null,
    region: storage.region ?? null,
    endpoint: storage.endpoint ?? null,
    pathStyle: storage.pathStyle ?? storage.endpoint !== undefined,
    awsProfile: storage.awsProfile ?? null,
    accessKeyId: storage.accessKeyId ?? null,
  };
}

const PLACES = { key: 'file', command: 'command' } as const;

function shownKey({ kind, value }: NonNullable<Settings['apiKey']>): string {
  return kind === 'key' ? maskKey(value) : publicKeyCommand(value);
}

const fromProfile = <T>(value: T) => ({ value, source: 'profile' }) as const;

/** Returns the settings that a command would use, each with its source. */
export function publicSettings(settings: Settings, guards: Guards, file: string) {
  const { profileName, profile, baseUrl, apiKey, timeoutMs, storageSource } = settings;
  const pin = pinnedFingerprintOf(settings);
  const storage = publicStorage(settings.storage);
  const key = apiKey && {
    value: shownKey(apiKey),
    source: apiKey.source,
    in: apiKey.source === 'environment' ? 'environment' : PLACES[apiKey.kind],
  };
  return {
    file,
    profile: profileName ?? null,
    baseUrl: baseUrl ?? null,
    apiKey: key ?? null,
    timeoutMs,
    storage: storage && { ...storage, source: storageSource },
    pin: pin === undefined ? null : fromProfile(pin),
    sealedPart: profile?.sealedPart ? fromProfile(true) : null,
    index: profile?.index === false ? fromProfile(false) : null,
    guards,
  };
}
