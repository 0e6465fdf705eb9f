import { readText } from '../../cli/input/files.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import type { Seed } from '../../sandbox/index.ts';

/** From so many characters on a seed keeps the process busy, which then draws nothing. */
const LARGE = 50_000;

/** The seed of a file, `-` for stdin. @throws UsageError that names line and field of a mistake. */
export async function readSeedFile(path: string, terminal: CommandTerminal): Promise<Seed> {
  const text = await readText(path, 'seed');
  const { readSeed } = await import('../../sandbox/index.ts');
  return terminal.waiting('Reading the seed', () => readSeed({ path, text }), {
    atOnce: text.length > LARGE,
  });
}
