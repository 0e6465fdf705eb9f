import { jsonTokens } from '../../kernel/json-text.ts';

const INDENT = '  ';

/** Valid JSON, one member a line. Digits, order and escapes stay as they were sent. */
export function prettyJson(text: string): string {
  let result = '';
  let depth = 0;
  let before = '';
  for (const { text: token } of jsonTokens(text)) {
    if (closes(token)) depth--;
    if (breaksBetween(before, token)) result += `\n${INDENT.repeat(depth)}`;
    result += token === ':' ? ': ' : token;
    if (opens(token)) depth++;
    before = token;
  }
  return result;
}

/** After each comma and around the members of a list or object; an empty one stays together. */
function breaksBetween(before: string, token: string): boolean {
  if (closes(token)) return !opens(before);
  return before === ',' || opens(before);
}

function opens(token: string): boolean {
  return token === '{' || token === '[';
}

function closes(token: string): boolean {
  return token === '}' || token === ']';
}
