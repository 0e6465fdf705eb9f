import type { Settings } from '../../settings/resolve.ts';

/** The account of a run. Empty until a command reads its settings. */
export interface RunAccount {
  settings?: Settings;
  /** The flags with which another command uses the same account; none if it would use it anyway. */
  flags: readonly string[];
}

/** Returns the flags with which a command that is run next uses the account of these settings. */
export function accountFlags(
  { profileName, baseUrl }: Pick<Settings, 'profileName' | 'baseUrl'>,
  current: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const withoutFlags = env.ESIGN_PROFILE?.trim() || current;
  return [
    ...(profileName === undefined || profileName.value === withoutFlags
      ? []
      : ['--profile', profileName.value]),
    ...(baseUrl?.source === 'flag' ? ['--base-url', baseUrl.value] : []),
  ];
}
