/*
 * JSON text taken apart without parsing it, so that digits, the order of members and doubled members
 * stay as they were sent. All of it expects text that is known to be valid JSON.
 */

interface Token {
  text: string;
  /** Where it begins in the whole. */
  at: number;
}

/** Brackets, commas, colons, strings, and other words; what stands between them is dropped. */
function* jsonTokens(text: string): Generator<Token, void, undefined> {
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

/**
 * How deep JSON is nested, and how many levels of indentation it takes to write each member on a line of its own: what
 * strangers send may be small and grow without bounds when it is written so.
 */
export function jsonExtent(text: string): { depth: number; indents: number } {
  const extent = { depth: 0, indents: 0 };
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charAt(i)) {
      case '"':
        i = endOfString(text, i) - 1;
        break;
      case '{':
      case '[':
        depth++;
        extent.depth = Math.max(extent.depth, depth);
        extent.indents += depth;
        break;
      case ',':
        extent.indents += depth;
        break;
      case '}':
      case ']':
        depth--;
        extent.indents += depth;
        break;
    }
  }
  return extent;
}

/** The first whole number in it that would become another one when it is read; undefined when there is none. */
export function inexactNumber(text: string): string | undefined {
  if (!/\d{16}/.test(text)) return undefined;
  for (const { text: token } of jsonTokens(text)) {
    if (/^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token))) return token;
  }
  return undefined;
}

/** The items of the list that is the outermost object's member of that name, each as its own text. */
export function itemTexts(text: string, member: string): string[] {
  const name = JSON.stringify(member);
  const found = partsOf(text).findLast((part) => part.startsWith(name));
  return found === undefined ? [] : partsOf(found.slice(found.indexOf(':', name.length) + 1));
}

/** What stands between the commas of the outermost list or object. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (const { text: token, at } of jsonTokens(text)) {
    if (token === '}' || token === ']') depth--;
    const ends = depth === 0 || (depth === 1 && token === ',');
    if (ends) parts.push(text.slice(from, at).trim());
    if (token === '{' || token === '[') depth++;
    if (ends) from = at + 1;
  }
  return parts.filter((part) => part !== '');
}

const INDENT = '  ';
/** Levels of indentation in all: 4 MiB of blanks. */
const MOST_INDENTS = 2 * 1024 * 1024;

/** False for JSON that would grow out of bounds when it is indented, as what is nested deep does. */
export function canIndent(text: string): boolean {
  return jsonExtent(text).indents <= MOST_INDENTS;
}

/** Valid JSON text with line breaks and indentation, every token kept as it is. */
export function indentJson(text: string): string {
  const out: string[] = [];
  let depth = 0;
  let opened = false;
  const breakLine = () => out.push(`\n${INDENT.repeat(depth)}`);
  for (const { text: token } of jsonTokens(text)) {
    const closes = token === '}' || token === ']';
    if (closes) depth--;
    // An empty object or list stays on its line.
    if (opened !== closes) breakLine();
    opened = token === '{' || token === '[';
    if (opened) depth++;
    out.push(token === ':' ? ': ' : token);
    if (token === ',') breakLine();
  }
  return out.join('');
}
