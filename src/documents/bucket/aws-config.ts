import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

type ConfigSdk = Pick<typeof import('./s3-sdk.ts'), 'externalDataInterceptor' | 'getHomeDir'>;

/** A section such as `[sso-session 'corp main']`. */
const QUOTED_NAME = /^(\s*\[)(profile|sso-session)\s+(["'])(.+?)\3(?=\])/gm;

/**
 * Lets the SDK find profiles and SSO sessions whose quoted names contain a space, as the AWS CLI does. The SDK doesn't accept the space, but
 * takes everything after a dot as the name.
 */
export async function readQuotedNames({ externalDataInterceptor, getHomeDir }: ConfigSdk): Promise<void> {
  const path = process.env.AWS_CONFIG_FILE ?? join(getHomeDir(), '.aws', 'config');
  // The SDK handles a file that can't be read.
  const text = await readFile(path, 'utf8').catch(() => '');
  const plain = text.replace(QUOTED_NAME, '$1$2.$4');
  if (plain !== text) externalDataInterceptor.interceptFile(path, plain);
}
