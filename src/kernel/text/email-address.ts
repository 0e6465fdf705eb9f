import { domainToASCII } from 'node:url';
import { describeInvisible } from './control-characters.ts';

/**
 * Checks email addresses at least as strictly as the service. Otherwise, the service could refuse one after other envelopes of a
 * list have been sent. An address needs one @ and a domain with a dot, and no spaces, brackets, typographic
 * quotes, or invisible characters.
 */
const ATOM = '[^\\s@<>(),;:"\\[\\]\\\\\\p{Cc}\\p{Cf}\\p{Pi}\\p{Pf}\u201a\u201e.]+';
/**
 * The only ASCII characters in a domain are letters, digits, hyphens, and underscores. `a.com/b.org` and `%61.com` have the ASCII
 * form `a.com`, so a guard would otherwise take them for that domain.
 */
const LABEL = '(?!-)[^\\s\\p{Cc}\\p{Cf}\\p{Pi}\\p{Pf}\u201a\u201e\\0-,./:-@[-^`{-\\x7f]+(?<!-)';
const ADDRESS = new RegExp(`^${ATOM}(\\.${ATOM})*@(?<domain>${LABEL}(\\.${LABEL})+)$`, 'u');
/** Limits in bytes (RFC 5321, section 4.5.3.1, and RFC 1035, section 2.3.4). */
const MAX_LENGTH = { address: 254, local: 64, label: 63 };
/** The last label is not a number, as that of an IP address is, and contains no underscore. */
const LAST_LABEL = /^(?!\d+$)[^_]+$/;
/** Quotes that word processors put in place of straight ones, also around an address, such as “ and ’. */
export const TYPOGRAPHIC_QUOTE = /[\p{Pi}\p{Pf}\u201a\u201e]/u;
const INVISIBLE = /[\p{Cc}\p{Cf}\u00a0]/u;

export function isEmailAddress(text: string): boolean {
  const domain = ADDRESS.exec(text)?.groups?.domain;
  if (domain === undefined || Buffer.byteLength(text) > MAX_LENGTH.address) return false;
  if (Buffer.byteLength(text.slice(0, text.indexOf('@'))) > MAX_LENGTH.local) return false;
  const labels = domainToASCII(domain).split('.');
  return labels.every(({ length }) => length <= MAX_LENGTH.label) && LAST_LABEL.test(labels.at(-1) ?? '');
}

/**
 * Returns the form in which addresses are compared: in lower case and NFC, with the domain in ASCII. Plus signs are significant, and letters
 * that only look alike are different. Returns undefined for anything that is not a single address.
 */
export function comparableAddress(text: string): string | undefined {
  if (!isEmailAddress(text)) return undefined;
  const at = text.lastIndexOf('@');
  const domain = domainToASCII(text.slice(at + 1));
  if (domain === '') return undefined;
  const address = `${comparableLocalPart(text.slice(0, at))}@${domain}`;
  // Most addresses are written in this form. A list has many, and a second copy of each would take memory.
  return address === text ? text : address;
}

/**
 * Composes letters with their marks, and lowers ASCII letters only. Other letters stay as they are: the Kelvin sign, for example, is a
 * different letter in an address, although it becomes k in NFC and in lower case.
 */
function comparableLocalPart(text: string): string {
  return text
    .replace(/\P{M}\p{M}+/gu, (letter) => letter.normalize('NFC'))
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Returns the form in which the addresses of signers are compared. A text that isn't an address counts as it is, because a service may show anything. */
export function comparableSigner(text: string): string {
  return comparableAddress(text.trim()) ?? text.trim().normalize('NFC').toLowerCase();
}

/** Returns the domain of an address. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/** Returns why the text is not an email address, worded as part of a sentence, or undefined if it is one. */
export function addressProblem(text: string): string | undefined {
  if (isEmailAddress(text)) return undefined;
  const hidden = INVISIBLE.exec(text)?.[0];
  if (hidden !== undefined) return `contains ${describeInvisible(hidden)}; type the address again`;
  const quote = TYPOGRAPHIC_QUOTE.exec(text)?.[0];
  if (quote !== undefined)
    return `contains the typographic quote ${quote}; remove it, or write a straight one`;
  if (/^[^@]+@[^@.]+$/.test(text)) return 'is not an email address: its domain has no dot';
  return 'is not an email address';
}
