/** What may stand in a command line: a word or a part of one, or several words. */
export type WordValue = string | number | readonly string[];

/**
 * The words of a command line: argv`envelopes get ${id} --subject 'Two words'`. A value is never broken up: blanks in it
 * stay in its word. A list that stands alone is a word each. Single quotes keep blanks together, as in a shell.
 */
export function argv(line: TemplateStringsArray, ...values: readonly WordValue[]): string[] {
  const found: string[] = [];
  let word: string | undefined;
  const end = () => {
    if (word !== undefined) found.push(word);
    word = undefined;
  };
  line.forEach((text, index) => {
    for (const part of text.match(/'[^']*'|\s+|[^\s']+/g) ?? []) {
      if (/^\s/.test(part)) end();
      else word = (word ?? '') + part.replaceAll("'", '');
    }
    const value = values[index];
    if (value === undefined) return;
    if (typeof value !== 'object') word = (word ?? '') + String(value);
    else if (word === undefined) found.push(...value);
    else throw new Error(`a list of words within the word ${word}`);
  });
  end();
  return found;
}

export function isWordValue(value: unknown): value is WordValue {
  return typeof value === 'string' || typeof value === 'number' || Array.isArray(value);
}
