/**
 * Checks email addresses at least as strictly as the service. Otherwise, the service could refuse one after other envelopes of a
 * list have been sent. An address needs one @ and a domain with a dot, and no spaces, brackets, or invisible characters.
 */
const ATOM = '[^\\s@<>(),;:"\\[\\]\\\\\\p{Cc}\\p{Cf}.]+';
/**
 * The only ASCII characters in a domain are letters, digits, hyphens, and underscores. `a.com/b.org` and `%61.com` have the ASCII
 * form `a.com`, so a guard would otherwise take them for that domain.
 */
const LABEL = '(?!-)[^\\s\\p{Cc}\\p{Cf}\\0-,./:-@[-^`{-\\x7f]+(?<!-)';
const ADDRESS = new RegExp(`^(?=[^@]{1,64}@)${ATOM}(\\.${ATOM})*@${LABEL}(\\.${LABEL})+$`, 'u');
const MAX_LENGTH = 254;
const INVISIBLE = /[\p{Cc}\p{Cf}\u00a0]/u;

export function isEmailAddress(text: string): boolean {
  return text.length <= MAX_LENGTH && ADDRESS.test(text);
}

/** Returns why the text is not an email address, worded as part of a sentence, or undefined if it is one. */
export function addressProblem(text: string): string | undefined {
  if (isEmailAddress(text)) return undefined;
  const invisible = INVISIBLE.exec(text)?.[0].codePointAt(0);
  if (invisible !== undefined) {
    const code = invisible.toString(16).toUpperCase().padStart(4, '0');
    return `contains an invisible character (U+${code}); type the address again`;
  }
  if (/^[^@]+@[^@.]+$/.test(text)) return 'is not an email address: its domain has no dot';
  return 'is not an email address';
}
