import type { Client } from '../api/client.ts';
import type { Template } from '../api/schemas.ts';

/** Templates whose name, description or id contains the text, any case; all of them when there is none. */
export async function* searchTemplates(
  client: Client,
  options: { search?: string | undefined; pageSize?: number | undefined; signal?: AbortSignal },
): AsyncGenerator<Template, void, undefined> {
  const needle = options.search?.toLocaleLowerCase();
  for await (const template of client.templates.list({
    pageSize: options.pageSize,
    signal: options.signal,
  })) {
    const texts = [template.id, template.name, template.description];
    if (needle === undefined || texts.some((text) => text?.toLocaleLowerCase().includes(needle)))
      yield template;
  }
}
