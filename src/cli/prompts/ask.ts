import { password, select, confirm as yesOrNo } from '@inquirer/prompts';
import { Keyboard, type KeyboardOptions, pasteAsOneLine } from './keyboard.ts';
import { PromptScreen } from './screen.ts';
import { calmTheme, type Paint } from './theme.ts';
import { forgetTypedAhead } from './typed.ts';

/* The questions of prompts.ts, with the library that asks them. */

/** Yes or no; no is the default, and nothing pasted or typed before it was asked is an answer. */
export async function confirm(question: string, paint: Paint): Promise<boolean> {
  const keys = { onPaste: () => '' };
  await forgetTypedAhead();
  return withKeyboard((context) => yesOrNo({ message: question, default: false }, context), paint, keys);
}

/** A secret, not shown while it is typed. */
export async function askSecret(question: string, paint: Paint): Promise<string> {
  const secret = await withKeyboard((context) => password({ message: question, mask: '•' }, context), paint);
  return secret.trim();
}

/** One of several, by its value; the one `first` names is under the cursor. */
export async function choose(
  question: string,
  choices: readonly { value: string; name: string; short: string }[],
  first: string | undefined,
  paint: Paint,
): Promise<string> {
  const theme = calmTheme('↑↓ move  ⏎ choose', paint);
  const start = first === undefined ? {} : { default: first };
  return withKeyboard((context) => select({ message: question, choices, theme, ...start }, context), paint);
}

interface Context {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

async function withKeyboard<T>(
  ask: (context: Context) => Promise<T>,
  paint: Paint,
  keys: Partial<KeyboardOptions> = {},
): Promise<T> {
  const input = new Keyboard({ onPaste: pasteAsOneLine, ...keys });
  try {
    return await ask({ input, output: new PromptScreen(paint) });
  } finally {
    input.close();
  }
}
