import type { Client } from '../api/client.ts';
import type { Template } from '../api/schemas.ts';
import { UsageError } from '../kernel/errors.ts';
import { isNotFound } from '../kernel/request-failures.ts';
import { wordsForHint } from '../kernel/text/shell-words.ts';
import { folded } from '../kernel/text/words.ts';

/**
 * Finds a template by its ID, or an active template by its name, ignoring case and accents.
 * @throws UsageError if several templates have the name.
 */
export async function findTemplate(
  client: Client,
  idOrName: string,
  signal?: AbortSignal,
): Promise<Template> {
  try {
    return await client.templates.get(idOrName, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const named: Template[] = [];
    for await (const one of client.templates.list({ signal }))
      if (folded(one.name ?? '') === folded(idOrName)) named.push(one);
    const [only, ...others] = named;
    if (only === undefined) throw error;
    if (others.length === 0) return client.templates.get(only.id, signal);
    throw new UsageError(`${named.length} templates have the name "${idOrName}".`, {
      hint: `Use an ID instead: ${wordsForHint(named.map(({ id }) => id)).join(', ')}.`,
    });
  }
}
