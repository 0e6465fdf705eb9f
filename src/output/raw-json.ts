import type { Terminal } from './terminal.ts';
import { safeJson } from './text.ts';

const INDENT = '  ';

/**
 * A reply's JSON text. In a pipe as it was received; on a terminal, or where `pretty` is wanted, indented.
 * Digits, the order of members and unknown members stay as they came, since the text is never parsed.
 */
export async function writeRawJson(text: string, terminal: Terminal, pretty: boolean): Promise<void> {
  const trimmed = text.trim();
  if (trimmed === '') return pretty ? terminal.out('null\n') : undefined;
  const shaped = pretty || terminal.outIsTty ? indentJson(trimmed) : trimmed;
  await terminal.out(`${terminal.outIsTty ? safeJson(shaped) : shaped}\n`);
}

/** Items as one bare array, each written as it comes. */
export async function writeRawItems(items: AsyncIterable<unknown>, terminal: Terminal): Promise<void> {
  let first = true;
  for await (const item of items) {
    const text = JSON.stringify(item, null, 2).replaceAll('\n', `\n${INDENT}`);
    await terminal.out(`${first ? '[' : ','}\n${INDENT}${terminal.outIsTty ? safeJson(text) : text}`);
    first = false;
  }
  await terminal.out(first ? '[]\n' : '\n]\n');
}

/** Valid JSON text with line breaks and indentation, every token kept as it is. */
export function indentJson(text: string): string {
  const out: string[] = [];
  let depth = 0;
  let opened = false;
  const breakLine = () => out.push(`\n${INDENT.repeat(depth)}`);
  for (const token of tokens(text)) {
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

/** Brackets, commas, colons, strings, and other words; what stands between them is dropped. */
function* tokens(text: string): Generator<string, void, undefined> {
  const plain = /[^\s"{}[\],:]+|[{}[\],:]/y;
  for (let i = 0; i < text.length; ) {
    const start = i;
    plain.lastIndex = i;
    if (text.charAt(i) === '"') i = endOfString(text, i);
    else i += plain.exec(text)?.[0].length ?? 0;
    if (i > start) yield text.slice(start, i);
    else i++;
  }
}

function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text.charAt(i) !== '"') i += text.charAt(i) === '\\' ? 2 : 1;
  return i + 1;
}
