/*
 * Questions to the person at the terminal, on stderr. The library is loaded only when one is asked.
 * Callers ask only where `terminal.canAsk` says so.
 */

const onStderr = { output: process.stderr, clearPromptOnDone: false };

/** Yes or no; no is the default. */
export async function confirm(question: string): Promise<boolean> {
  const { confirm: ask } = await import('@inquirer/prompts');
  return ask({ message: question, default: false }, onStderr);
}

/** A secret, not shown while it is typed. */
export async function askSecret(question: string): Promise<string> {
  const { password } = await import('@inquirer/prompts');
  const secret = await password({ message: question, mask: '•' }, onStderr);
  return secret.trim();
}
