import { createInterface } from 'node:readline/promises';
import type { AskedChoice, PromptContext, TextQuestion } from './question.ts';

/*
 * Questions that redraw nothing, for screen readers and braille displays (ESIGN_ACCESSIBLE): each is one line, and choices are numbered.
 */

async function askLine(question: string, { input, output, signal }: PromptContext): Promise<string> {
  const lines = createInterface({ input, output, terminal: false });
  try {
    return await lines.question(question, { signal });
  } finally {
    lines.close();
  }
}

/** Asks for a line of text, again until it is accepted. */
export async function askPlainText(
  message: string,
  /** `standard`: the answer if nothing is typed. */
  { standard, problemOf }: TextQuestion & { standard?: string | undefined },
  context: PromptContext,
): Promise<string> {
  const preset = standard === undefined ? '' : ` (${standard})`;
  for (;;) {
    const answer = (await askLine(`${message}${preset} `, context)) || (standard ?? '');
    const problem = problemOf?.(answer);
    if (problem === undefined) return answer;
    context.output.write(`${problem}\n`);
  }
}

/** Asks for the number of a choice, again until there is one with this number. */
export async function askPlainChoice<T>(
  message: string,
  choices: readonly AskedChoice<T>[],
  first: T | undefined,
  context: PromptContext,
): Promise<T> {
  const lines = choices.map(({ name, description }, index) => {
    const about = description === undefined ? '' : `: ${description}`;
    return `${index + 1}. ${name}${about}\n`;
  });
  context.output.write(`${message}\n${lines.join('')}`);
  const preset = choices.findIndex(({ value }) => value === first) + 1;
  const problemOf = (answer: string) =>
    choices[Number(answer) - 1] === undefined ? `Type a number from 1 to ${choices.length}.` : undefined;
  const standard = preset > 0 ? String(preset) : undefined;
  const answer = await askPlainText('Number:', { standard, problemOf }, context);
  const chosen = choices[Number(answer) - 1];
  if (chosen === undefined) throw new Error('an invalid choice was accepted');
  return chosen.value;
}

/** Asks yes or no. The default is no. */
export async function askPlainYesOrNo(message: string, context: PromptContext): Promise<boolean> {
  return /^y(es)?$/i.test((await askLine(`${message} (y/N) `, context)).trim());
}
