import { domainToASCII } from 'node:url';
import { isEmailAddress } from '../kernel/text/email-address.ts';

/*
 * Addresses are compared the way mail servers do it, or more strictly: ignoring case, and with domains in their ASCII form.
 * Plus signs are significant, and letters that only look alike are different.
 */

/** Returns the form in which addresses are compared, or undefined for anything that is not a single address. */
export function comparableAddress(text: string): string | undefined {
  if (!isEmailAddress(text)) return undefined;
  const at = text.lastIndexOf('@');
  const domain = domainToASCII(text.slice(at + 1));
  return domain === '' ? undefined : `${withoutCase(text.slice(0, at).normalize('NFC'))}@${domain}`;
}

/**
 * Returns the form in which a pattern is compared. Valid patterns are an address, `*@example.com` (this domain only), and
 * `*@*.example.com` (its subdomains). Returns undefined for anything else.
 */
export function comparablePattern(text: string): string | undefined {
  const trimmed = text.trim();
  const wildcard = /^\*@(\*\.)?/.exec(trimmed)?.[0];
  if (wildcard === undefined) return trimmed.includes('*') ? undefined : comparableAddress(trimmed);
  const domain = trimmed.slice(wildcard.length);
  const example = domain.includes('*') ? undefined : comparableAddress(`x@${domain}`);
  return example === undefined ? undefined : `${wildcard}${example.slice('x@'.length)}`;
}

/** Returns whether a pattern covers an address or another pattern. Both must be in comparable form. */
export function covers(pattern: string, address: string): boolean {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  if (pattern.startsWith('*@*.')) return domain.endsWith(pattern.slice('*@*'.length));
  if (pattern.startsWith('*@')) return domain === pattern.slice('*@'.length);
  return pattern === address;
}

/** Returns the patterns that cover what both lists cover. */
export function intersection(one: readonly string[], other: readonly string[]): string[] {
  const within = (list: readonly string[], of: readonly string[]) =>
    list.filter((pattern) => of.some((wider) => covers(wider, pattern)));
  return [...new Set([...within(one, other), ...within(other, one)])];
}

/** Lowercases letters only if uppercasing restores them, so that the Kelvin sign, for example, does not become a k. */
function withoutCase(text: string): string {
  return [...text]
    .map((letter) => {
      const lower = letter.toLowerCase();
      return lower.toUpperCase() === letter ? lower : letter;
    })
    .join('');
}
