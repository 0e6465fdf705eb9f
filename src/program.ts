import { main as runMain } from './cli/main.ts';
import { COMMANDS } from './commands.ts';

/** Runs one command line. `root` is the folder that contains package.json and the manifest. */
export function main(argv: string[], root: string): Promise<void> {
  return runMain(argv, { root, commands: COMMANDS });
}

/** Prints the completions of a word, as the shells' scripts ask for them: `__complete` and what follows. */
export async function complete(words: readonly string[], root: string): Promise<void> {
  const completion = await import('./cli/completion/complete-line.ts');
  completion.main(words, root);
}
