import type { Client } from '../api/client.ts';
import type { Template } from '../api/resource-types.ts';
import { foldText, matchesAllWords, wordsOf } from '../kernel/text/search-words.ts';

/** Yields the templates whose name, description, or ID has a word starting with each word of the text. An empty text matches all. */
export async function* searchTemplates(
  client: Client,
  options: { search?: string | undefined } & Parameters<Client['templates']['list']>[0],
): AsyncGenerator<Template, void, undefined> {
  const { search, onTotal, ...list } = options;
  const words = wordsOf(search ?? '');
  for await (const template of client.templates.list({ ...list, ...(search ? {} : { onTotal }) })) {
    const texts = [template.id, template.name, template.description].map((text) => foldText(text ?? ''));
    if (matchesAllWords(texts, words)) yield template;
  }
}
