import { join } from 'node:path';
import { isLoopback } from '../api/base-url.ts';
import { shortDigest } from '../kernel/digest.ts';

/** The service that a record describes. Each base URL has its own record. */
export interface RecordScope {
  profile: string | undefined;
  baseUrl: string;
}

export function recordFolder(stateDir: string): string {
  return join(stateDir, 'compatibility');
}

/** The suffix of the records of services on this machine. */
export const LOCAL = '.local.json';

/** Returns the file of a record. The name is a checksum, so it reveals neither address nor profile. */
export function recordPath(stateDir: string, { profile, baseUrl }: RecordScope): string {
  const kind = isLoopback(new URL(baseUrl)) ? LOCAL : '.json';
  return join(recordFolder(stateDir), `${recordPrefix(profile)}${shortDigest(baseUrl)}${kind}`);
}

export function recordPrefix(profile: string | undefined): string {
  return `${shortDigest(profile ?? '')}-`;
}
