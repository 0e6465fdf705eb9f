import { indentJson } from '../../kernel/text/json-text.ts';
import { withoutActing } from '../../output/json.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeJson } from '../../output/text.ts';

const INDENT = '  ';

/**
 * A reply's JSON text. In a pipe as it was received, with what acts on a terminal escaped; on a terminal, or where `pretty` is wanted, indented.
 * Digits, the order of members and unknown members stay as they came, since the text is never parsed.
 */
export async function writeRawJson(text: string, terminal: Terminal, pretty: boolean): Promise<void> {
  const trimmed = text.trim();
  if (trimmed === '') return pretty ? terminal.out('null\n') : undefined;
  const shaped = pretty || terminal.outIsTty ? indentJson(trimmed) : trimmed;
  await terminal.out(`${safe(shaped, terminal)}\n`);
}

/** JSON texts as one bare array, each written as it comes. */
export async function writeRawItems(items: AsyncIterable<string>, terminal: Terminal): Promise<void> {
  let first = true;
  for await (const item of items) {
    const text = indentJson(item).replaceAll('\n', `\n${INDENT}`);
    await terminal.out(`${first ? '[' : ','}\n${INDENT}${safe(text, terminal)}`);
    first = false;
  }
  await terminal.out(first ? '[]\n' : '\n]\n');
}

function safe(json: string, terminal: Terminal): string {
  return terminal.outIsTty ? safeJson(json) : withoutActing(json);
}
