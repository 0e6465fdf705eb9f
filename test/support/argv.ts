/** A value in a command line: one argument or a part of one, or several arguments. */
export type WordValue = string | number | readonly string[];

/**
 * Splits a command line into arguments: argv`envelopes get ${id} --subject 'Two words'`. A value is never split: its blanks
 * stay in its argument. A separate list becomes one argument per item. Single quotes keep blanks together, as in a shell.
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
