import type { Context } from '../../cli/context.ts';
import { readText } from '../../cli/input/files.ts';
import type { Seed } from '../../sandbox/index.ts';

/** From so many characters on a seed keeps the process busy, which then draws nothing. */
const LARGE = 50_000;

/** The seed of a file, `-` for stdin. @throws UsageError that names line and field of a mistake. */
export async function readSeedFile(path: string, context: Context): Promise<Seed> {
  const text = await readText(path, 'seed');
  const { readSeed } = await import('../../sandbox/index.ts');
  return context.waiting('Reading the seed', () => readSeed({ path, text }), { atOnce: text.length > LARGE });
}
