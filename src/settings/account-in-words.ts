import type { Environment } from '../kernel/environment.ts';
import { isLoopbackHost } from '../kernel/network/localhost.ts';
import type { Settings } from './resolve.ts';

type AccountSettings = Pick<Settings, 'profile' | 'profileName' | 'baseUrl'>;

/** Returns true if requests go to a sandbox: with the profile that `sandbox start` writes, or within `sandbox exec`. */
export function isSandbox({ profile, baseUrl }: AccountSettings, env: Environment = process.env): boolean {
  if (baseUrl === undefined || !isLoopbackHost(new URL(baseUrl.value).hostname)) return false;
  const isOfProfile = profile?.sandbox === true && profile.baseUrl === baseUrl.value;
  return isOfProfile || new URL(baseUrl.value).origin === env.ESIGN_SANDBOX_URL;
}

/** Returns the account for a question or a summary: `acme, api.example.com`, or `sandbox, no real emails`. */
export function accountInWords(account: AccountSettings, env?: Environment): string {
  if (isSandbox(account, env)) return 'sandbox, no real emails';
  const { profileName, baseUrl } = account;
  const host = baseUrl && new URL(baseUrl.value).host;
  return [profileName?.value, host].filter((text) => text !== undefined).join(', ');
}
