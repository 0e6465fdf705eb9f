import { comparableAddress } from '../../kernel/text/email-address.ts';

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
