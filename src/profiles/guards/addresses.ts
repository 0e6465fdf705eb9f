import { domainToASCII } from 'node:url';
import { isEmailAddress } from '../../kernel/text/email-address.ts';

/*
 * Addresses are compared ignoring case, with domains in their ASCII form. Plus signs are significant, and letters that only look alike are
 * different.
 */

/** Returns the form in which addresses are compared, or undefined for anything that is not a single address. */
export function comparableAddress(text: string): string | undefined {
  if (!isEmailAddress(text)) return undefined;
  const at = text.lastIndexOf('@');
  const domain = domainToASCII(text.slice(at + 1));
  return domain === '' ? undefined : `${asciiLowerCase(text.slice(0, at))}@${domain}`;
}

/** Other letters keep their case: the Kelvin sign, for example, is a different letter in an address, and becomes k in lower case. */
function asciiLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Returns the form in which a pattern is compared: an address, or `*@example.com` (this domain only). Undefined for anything else. */
export function comparablePattern(text: string): string | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith('*@')) return trimmed.includes('*') ? undefined : comparableAddress(trimmed);
  const domain = trimmed.slice('*@'.length);
  const example = domain.includes('*') ? undefined : comparableAddress(`x@${domain}`);
  return example === undefined ? undefined : `*@${example.slice('x@'.length)}`;
}

/** Returns whether a pattern matches an address or another pattern. Both must be in comparable form. */
export function matchesPattern(pattern: string, address: string): boolean {
  return pattern === address || pattern === `*${address.slice(address.lastIndexOf('@'))}`;
}

/** Returns the patterns that cover what both lists cover. */
export function intersection(one: readonly string[], other: readonly string[]): string[] {
  const within = (list: readonly string[], of: readonly string[]) =>
    list.filter((pattern) => of.some((wider) => matchesPattern(wider, pattern)));
  return [...new Set([...within(one, other), ...within(other, one)])];
}
