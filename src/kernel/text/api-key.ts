import { UsageError } from '../errors.ts';

const QUOTED = /^(["'`]).*\1$/;
/** A quote that was copied with the end of the key. */
const QUOTE_AT_END = /["'`]$/;
/** The name of a variable, as in a file of variables. A key in base64 can end with equals signs. */
const NAME = /^(?:[A-Z][A-Z0-9_]{2,}|\w*key)=(?=[^=])/;
/** Text in place of a key: a variable or placeholder that nothing replaced, or asterisks from a log. */
const PLACEHOLDER = /^(?:undefined|null|none|\*+|\$.+|%.+%|<.+>|\[.+\]|\{.+\})$/i;

/** Returns why a text can't be an API key, worded after "it". It is sent in a header, so only visible ASCII characters are possible. */
export function keyProblem(key: string): string | undefined {
  const name = NAME.exec(key)?.[0];
  if (name !== undefined) return `begins with "${name}", which is not part of a key`;
  if (key.startsWith('{"')) return 'is JSON instead of only the key';
  if (!/^[\x21-\x7e]+$/.test(key)) return 'contains a space, a line break, or a character that is not ASCII';
  if (QUOTED.test(key)) return 'is in quotes, which are not part of a key';
  if (QUOTE_AT_END.test(key)) return 'ends with a quote, which is not part of a key';
  if (PLACEHOLDER.test(key)) return 'is a placeholder';
  return undefined;
}

/** Returns the key. @throws UsageError if it can't be one; `name` is where it comes from. */
export function usableKey(key: string, name: string): string {
  const problem = keyProblem(key);
  if (problem === undefined) return key;
  throw new UsageError(`${name} is not a valid key: it ${problem}.`, {
    hint: 'Use the key exactly as the service showed it.',
  });
}
