import { processTerminal } from '../../output/terminal.ts';

/*
 * Questions to the person at the terminal, on stderr. What asks them is loaded only when one is asked.
 * Callers ask only where `terminal.canAsk` says so.
 */

const load = () => import('./ask.ts');
const paint = () => processTerminal({}).styleErr;

/** Yes or no; no is the default, and nothing pasted or typed before it was asked is an answer. */
export async function confirm(question: string): Promise<boolean> {
  return (await load()).confirm(question, paint());
}

/** A secret, not shown while it is typed. */
export async function askSecret(question: string): Promise<string> {
  return (await load()).askSecret(question, paint());
}

/** One of several, by its value; the one `first` names is under the cursor. */
export async function choose(
  question: string,
  choices: readonly { value: string; name: string; short: string }[],
  first: string | undefined,
): Promise<string> {
  return (await load()).choose(question, choices, first, paint());
}
