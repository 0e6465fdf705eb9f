import { createHash, getFips, type Hash, hash } from 'node:crypto';

/** Returns sixteen hexadecimal digits that identify a text without revealing it, the same in every process. */
export function shortDigest(text: string): string {
  return hash('sha256', text).slice(0, 16);
}

/** Returns a name for the account of a key at a base URL, for files and records, without revealing the key. */
export function accountOf(baseUrl: string, apiKey: string): string {
  return shortDigest(`${baseUrl}\n${apiKey}`);
}

/** Starts an MD5, which buckets use to identify content. Undefined in FIPS mode, where nothing may ask for one. */
export function startMd5(): Hash | undefined {
  if (getFips() !== 0) return undefined;
  try {
    return createHash('md5');
  } catch {
    // An OpenSSL whose configuration allows only approved algorithms.
    return undefined;
  }
}
