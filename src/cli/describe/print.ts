import { readCommandTree } from '../../completion/commands.ts';
import { jsonText, writeJson } from '../../output/json.ts';
import { processTerminal } from '../../output/terminal.ts';
import { type Installation, versionOf } from '../boot/installation.ts';
import { unknownCommand } from '../boot/oclif-errors.ts';
import type { CommandTerminal } from '../terminal.ts';
import { describe } from './describe.ts';
import { outputSchemaOf } from './schema.ts';

/** Prints the result of `help --json` and `--help --json` as one line. */
export async function printDescription(argv: readonly string[], installed: Installation): Promise<void> {
  const words = argv.filter((word) => !word.startsWith('-'));
  const facts = describe(words, { root: installed.root, version: versionOf(installed) });
  await processTerminal({}).out(`${jsonText(facts)}\n`);
}

/** Prints the result of `schema COMMAND`. */
export async function printSchema(
  words: readonly string[],
  root: string,
  terminal: CommandTerminal,
): Promise<void> {
  const ids = Object.keys(readCommandTree(root).commands);
  // `envelopes get` may also be passed as a single argument.
  const id = words
    .join(' ')
    .trim()
    .replaceAll(/[\s:]+/g, ':');
  if (!ids.includes(id)) throw unknownCommand(id, ids);
  await writeJson(outputSchemaOf(root, id), terminal);
}
