import { indentJson } from '../../kernel/text/json-text.ts';
import { withoutActing } from '../../output/json.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeJson } from '../../output/text.ts';

const INDENT = '  ';

/**
 * Writes the JSON text of a reply. In a pipe, it is written as received, except that characters that could affect a terminal are
 * escaped. On a terminal or with `pretty`, it is indented. The text is never parsed, so digits, the order of members, and unknown
 * members are preserved.
 */
export async function writeRawJson(text: string, terminal: Terminal, pretty: boolean): Promise<void> {
  const trimmed = text.trim();
  if (trimmed === '') return pretty ? terminal.out('null\n') : undefined;
  const shaped = pretty || terminal.outIsTty ? indentJson(trimmed) : trimmed;
  await terminal.out(`${safe(shaped, terminal)}\n`);
}

/** Writes JSON texts as a single array, each as soon as it is available. */
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
