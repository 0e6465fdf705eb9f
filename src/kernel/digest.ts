import { createHash, getFips, type Hash, hash, pbkdf2Sync } from 'node:crypto';

/** Returns sixteen hexadecimal digits that identify a text without revealing it, the same in every process. */
export function shortDigest(text: string): string {
  return hash('sha256', text).slice(0, 16);
}

/** Returns a name for the account of a key at a base URL, for files and records, without revealing the key. */
export function accountOf(baseUrl: string, apiKey: string): string {
  return shortDigest(`${baseUrl}\n${apiKey}`);
}

const ITERATIONS = 200_000;
const FINGERPRINT_SALT = 'esign secret fingerprint';
const FINGERPRINT_BYTES = 8;

/**
 * Returns sixteen hexadecimal digits that identify a secret. It is kept in files that others read, and a
 * webhook secret may be short, so guessing is made slow. The salt is fixed, so that the same secret has the same fingerprint everywhere.
 */
export function secretFingerprint(secret: string): string {
  return pbkdf2Sync(secret, FINGERPRINT_SALT, ITERATIONS, FINGERPRINT_BYTES, 'sha256').toString('hex');
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
