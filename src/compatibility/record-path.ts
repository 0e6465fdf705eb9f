import { join } from 'node:path';
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

/** The file of a scope. Its name is a checksum: it contains no address and no profile. */
export function recordPath(stateDir: string, { profile, baseUrl }: RecordScope): string {
  return join(recordFolder(stateDir), `${recordPrefix(profile)}${shortDigest(baseUrl)}.json`);
}

/** How the names of a profile's records begin. */
export function recordPrefix(profile: string | undefined): string {
  return `${shortDigest(profile ?? '')}-`;
}
