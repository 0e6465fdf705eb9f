import type { KeyboardOptions } from './keyboard.ts';

/*
 * Questions to the person at the terminal, on stderr. The library is loaded only when one is asked.
 * Callers ask only where `terminal.canAsk` says so.
 */

/** Yes or no; no is the default, and nothing pasted is an answer. */
export async function confirm(question: string): Promise<boolean> {
  const { confirm: ask } = await import('@inquirer/prompts');
  return withKeyboard((context) => ask({ message: question, default: false }, context), {
    onPaste: () => '',
  });
}

/** A secret, not shown while it is typed. */
export async function askSecret(question: string): Promise<string> {
  const { password } = await import('@inquirer/prompts');
  const secret = await withKeyboard((context) => password({ message: question, mask: '•' }, context));
  return secret.trim();
}

/** One of several, by its value; the one `first` names is under the cursor. */
export async function choose(
  question: string,
  choices: readonly { value: string; name: string; short: string }[],
  first: string | undefined,
): Promise<string> {
  const [{ select }, { calmTheme }] = await Promise.all([
    import('@inquirer/prompts'),
    import('./prompt-theme.ts'),
  ]);
  const theme = calmTheme('↑↓ move  ⏎ choose');
  const start = first === undefined ? {} : { default: first };
  return withKeyboard((context) => select({ message: question, choices, theme, ...start }, context));
}

interface Context {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

async function withKeyboard<T>(
  ask: (context: Context) => Promise<T>,
  keys: Partial<KeyboardOptions> = {},
): Promise<T> {
  const [{ Keyboard, pasteAsOneLine }, { PromptScreen }] = await Promise.all([
    import('./keyboard.ts'),
    import('./prompt-screen.ts'),
  ]);
  const input = new Keyboard({ onPaste: pasteAsOneLine, ...keys });
  try {
    return await ask({ input, output: new PromptScreen() });
  } finally {
    input.close();
  }
}
