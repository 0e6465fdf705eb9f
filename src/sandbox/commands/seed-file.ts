import { readText } from '../../cli/input/files.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import type { Seed } from '../index.ts';

/** The number of characters from which parsing blocks the process, so that a spinner couldn't be animated. */
const LARGE = 50_000;

/** Reads a seed from a file. `-` is stdin. @throws UsageError with the line and field of an error. */
export async function readSeedFile(path: string, terminal: CommandTerminal): Promise<Seed> {
  const text = await readText(path, 'seed');
  const { readSeedText } = await import('../index.ts');
  return terminal.waiting('Reading the seed', () => readSeedText(path, text), {
    immediately: text.length > LARGE,
  });
}
