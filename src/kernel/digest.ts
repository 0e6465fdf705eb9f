import { createHash, getFips, type Hash, hash } from 'node:crypto';
import { sortMembers } from './json.ts';

/** The number of hexadecimal digits that `digest` returns: 96 bits. */
export const DIGEST_DIGITS = 24;

/** Returns sixteen hexadecimal digits that identify a text without revealing it. They are the same in every process. */
export function shortDigest(text: string): string {
  return hash('sha256', text).slice(0, 16);
}

/** Returns a hash of a JSON value, whatever the order of its members. In a list, missing values count as null. */
export function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(sortMembers(value))).slice(0, DIGEST_DIGITS);
}

/** Returns a name for the account of a key at a base URL. It is used in files and records and doesn't reveal the key. */
export function accountOf(baseUrl: string, apiKey: string): string {
  return shortDigest(`${baseUrl}\n${apiKey}`);
}

/** Starts an MD5, which buckets use to identify content. Returns undefined in FIPS mode, which forbids MD5. */
export function startMd5(): Hash | undefined {
  if (getFips() !== 0) return undefined;
  try {
    return createHash('md5');
  } catch {
    // OpenSSL is configured to allow only approved algorithms.
    return undefined;
  }
}
