import { readText } from '../../cli/input/files.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import type { Seed } from '../../sandbox/index.ts';

/** A seed of this many characters keeps the process busy, so no spinner is drawn. */
const LARGE = 50_000;

/** Reads a seed from a file, `-` for stdin. @throws UsageError with the line and field of an error. */
export async function readSeedFile(path: string, terminal: CommandTerminal): Promise<Seed> {
  const text = await readText(path, 'seed');
  const { readSeed } = await import('../../sandbox/index.ts');
  return terminal.waiting('Reading the seed', () => readSeed({ path, text }), {
    atOnce: text.length > LARGE,
  });
}
