import type { SendRequest } from './http.ts';
import { walkPages } from './pages.ts';
import { readAs, resourceResponseSchema, type Template, templateSchema } from './schemas.ts';
import { type FindSimilarIds, throwAbout } from './subject.ts';

export interface TemplatesApi {
  /** Lists active templates, page by page. */
  list(options?: {
    pageSize?: number | undefined;
    signal?: AbortSignal | undefined;
    onTotal?: ((total: number) => void) | undefined;
  }): AsyncGenerator<Template, void, undefined>;
  get(id: string, signal?: AbortSignal): Promise<Template>;
}

/** Creates the methods for the endpoints of the section Templates (scope esign:read). `onTemplate` receives everything they return. */
export function templatesApi(
  send: SendRequest,
  findSimilarIds?: FindSimilarIds,
  onTemplate: (seen: Template) => void = () => undefined,
): TemplatesApi {
  const read = (data: unknown, what: string, status: number) => {
    const template = readAs(templateSchema, data, what, status);
    onTemplate(template);
    return template;
  };
  return {
    list: (options = {}) =>
      walkPages(send, { ...options, path: '/esign/templates' }, (item, status) =>
        read(item, 'a list of templates', status),
      ),
    async get(id, signal) {
      const request = { method: 'GET', path: `/esign/templates/${encodeURIComponent(id)}`, signal } as const;
      const { body, status } = await send(request).catch((error: unknown) =>
        throwAbout({ kind: 'template', id }, error, findSimilarIds),
      );
      return read(readAs(resourceResponseSchema, body, 'a template', status).data, 'a template', status);
    },
  };
}
