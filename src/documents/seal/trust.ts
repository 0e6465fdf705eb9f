import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { UsageError } from '../../kernel/errors.ts';
import type { CheckedSeal, Seal } from './seal.ts';

/** Certificates between a signer's and the authority's; real chains have two or three. */
const LONGEST_CHAIN = 8;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** How a seal stands to those seen before with a profile: as SSH does with hosts. */
export type Trust = 'pinned' | 'trusted' | 'unknown' | 'other';

/** The authorities in a PEM file. @throws UsageError when it has none. */
export function readAuthorities(path: string): X509Certificate[] {
  try {
    const found = readFileSync(path, 'utf8').match(CERTIFICATE) ?? [];
    if (found.length > 0) return found.map((text) => new X509Certificate(text));
  } catch (error) {
    throw new UsageError(`The authorities can't be read from ${path}.`, {
      cause: error,
      hint: 'Check the path and who may read it; it must be PEM.',
    });
  }
  throw new UsageError(`There is no certificate in ${path}.`, {
    hint: 'It must be PEM: -----BEGIN CERTIFICATE-----.',
  });
}

/**
 * How far the signer of a seal is known: `trusted` where a chain of certificates leads to one of the authorities, else by
 * the fingerprints that are pinned. Null where nobody is named. No lists of authorities and no revocations are asked for.
 */
export function trustIn(
  { seal, signer }: CheckedSeal,
  known: { authorities: readonly X509Certificate[]; pinned: readonly string[] },
): Trust | null {
  if (seal.fingerprint === null || signer === null) return null;
  if (known.pinned.includes(seal.fingerprint)) return 'pinned';
  if (leadsTo(signer.certificate, signer.certificates, known.authorities, timeOf(seal))) return 'trusted';
  return known.pinned.length > 0 ? 'other' : 'unknown';
}

/** The time that the signer names, since a certificate may have ended meanwhile. */
function timeOf({ time }: Seal): number {
  return time === null ? Date.now() : Date.parse(time);
}

function leadsTo(
  certificate: X509Certificate,
  others: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
  at: number,
): boolean {
  let current = certificate;
  for (let length = 0; length < LONGEST_CHAIN; length++) {
    if (at < Date.parse(current.validFrom) || at > Date.parse(current.validTo)) return false;
    const child = current;
    if (authorities.some((one) => one.raw.equals(child.raw) || isIssuer(one, child))) return true;
    const next = others.find((one) => !one.raw.equals(child.raw) && isIssuer(one, child));
    if (next === undefined) return false;
    current = next;
  }
  return false;
}

function isIssuer(issuer: X509Certificate, child: X509Certificate): boolean {
  return issuer.ca && child.checkIssued(issuer) && child.verify(issuer.publicKey);
}
