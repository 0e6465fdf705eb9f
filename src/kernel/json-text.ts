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
export function* jsonTokens(text: string): Generator<Token, void, undefined> {
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
