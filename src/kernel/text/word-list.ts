/** Splits a text into its words. A long list of names is easier to read this way than with a line for each. */
export function wordList(text: string): string[] {
  return text.trim().split(/\s+/);
}
