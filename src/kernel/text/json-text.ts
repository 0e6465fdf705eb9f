/*
 * Splits JSON text without parsing it, so that digits, the order of members, and duplicate members are preserved. The
 * text must be valid JSON.
 */

interface JsonToken {
  text: string;
  /** The offset of the token in the text. */
  at: number;
}

/** Yields brackets, commas, colons, strings, and other tokens, without white space. */
export function* jsonTokens(text: string): Generator<JsonToken, void, undefined> {
  const plain = /[^\s"{}[\],:]+|[{}[\],:]/y;
  for (let i = 0; i < text.length; ) {
    const at = i;
    plain.lastIndex = i;
    if (text.charAt(i) === '"') i = endOfString(text, i);
    else i += plain.exec(text)?.[0].length ?? 0;
    if (i > at) yield { text: text.slice(at, i), at };
    else i++;
  }
}

function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text.charAt(i) !== '"') i += text.charAt(i) === '\\' ? 2 : 1;
  return i + 1;
}

/** Returns true if a name occurs twice in an object of the JSON text, which its parsed value doesn't show. */
export function repeatsName(text: string, value: unknown): boolean {
  let members = 0;
  for (const token of jsonTokens(text)) if (token.text === ':') members++;
  return members !== countNames(value);
}

function countNames(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value).reduce((sum: number, one: unknown) => sum + countNames(one), 0);
  return (Array.isArray(value) ? 0 : Object.keys(value).length) + inner;
}

/** Returns the texts of the items in an array that is a member of the outermost object. */
export function itemTexts(text: string, member: string): string[] {
  const name = JSON.stringify(member);
  const found = partsOf(text).findLast((part) => part.startsWith(name));
  return found === undefined ? [] : partsOf(found.slice(found.indexOf(':', name.length) + 1));
}

/** Returns the texts between the commas of the outermost list or object. */
function partsOf(text: string): string[] {
  return partRanges(text)
    .map(([from, to]) => text.slice(from, to).trim())
    .filter((part) => part !== '');
}

function partRanges(text: string): (readonly [number, number])[] {
  const ranges: [number, number][] = [];
  let depth = 0;
  let from = 0;
  for (const { text: token, at } of jsonTokens(text)) {
    if (token === '}' || token === ']') depth--;
    const ends = depth === 0 || (depth === 1 && token === ',');
    if (ends) ranges.push([from, at]);
    if (token === '{' || token === '[') depth++;
    if (ends) from = at + 1;
  }
  return ranges;
}

const INDENT = '  ';

/** Indents valid JSON text without changing any token. */
export function indentJson(text: string): string {
  const out: string[] = [];
  let depth = 0;
  let opened = false;
  const breakLine = () => out.push(`\n${INDENT.repeat(depth)}`);
  for (const { text: token } of jsonTokens(text)) {
    const closes = token === '}' || token === ']';
    if (closes) depth--;
    // An empty object or array stays on one line.
    if (opened !== closes) breakLine();
    opened = token === '{' || token === '[';
    if (opened) depth++;
    out.push(token === ':' ? ': ' : token);
    if (token === ',') breakLine();
  }
  return out.join('');
}
