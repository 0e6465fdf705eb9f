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

/** One of several, by its value; the one `first` names is under the cursor. */
export async function choose(
  question: string,
  choices: readonly { value: string; name: string }[],
  first: string | undefined,
): Promise<string> {
  const { select } = await import('@inquirer/prompts');
  return select({ message: question, choices, ...(first === undefined ? {} : { default: first }) }, onStderr);
}
