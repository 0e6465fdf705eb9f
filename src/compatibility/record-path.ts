import { join } from 'node:path';
import { isLoopback } from '../api/base-url.ts';
import { shortDigest } from '../kernel/digest.ts';

/** Whose replies a record describes: another base URL has another one. */
export interface RecordScope {
  profile: string | undefined;
  baseUrl: string;
}

/** The folder of all records. */
export function recordFolder(stateDir: string): string {
  return join(stateDir, 'compatibility');
}

/** How the names of records of services on this machine end. */
export const LOCAL = '.local.json';

/** The file of a scope. Its name is a checksum: it contains no address and no profile. */
export function recordPath(stateDir: string, { profile, baseUrl }: RecordScope): string {
  const kind = isLoopback(new URL(baseUrl)) ? LOCAL : '.json';
  return join(recordFolder(stateDir), `${recordPrefix(profile)}${shortDigest(baseUrl)}${kind}`);
}

/** How the names of a profile's records begin. */
export function recordPrefix(profile: string | undefined): string {
  return `${shortDigest(profile ?? '')}-`;
}
