import type { SendRequest } from './http.ts';
import { walkPages } from './pages.ts';
import { readAs, resourceResponseSchema, type Template, templateSchema } from './schemas.ts';
import { type FindSimilarIds, withSubject } from './subject.ts';

export interface TemplatesApi {
  /** Lists active templates, page by page. */
  list(options?: {
    pageSize?: number | undefined;
    signal?: AbortSignal | undefined;
    onTotal?: ((total: number) => void) | undefined;
  }): AsyncGenerator<Template, void, undefined>;
  get(id: string, signal?: AbortSignal): Promise<Template>;
}

/** Creates the methods for the endpoints of the section Templates (scope esign:read). */
export function templatesApi(send: SendRequest, findSimilarIds?: FindSimilarIds): TemplatesApi {
  return {
    list: (options = {}) =>
      walkPages(
        send,
        {
          path: '/esign/templates',
          ...(options.pageSize === undefined ? {} : { pageSize: options.pageSize }),
          signal: options.signal,
          onTotal: options.onTotal,
        },
        (item, status) => readAs(templateSchema, item, 'a list of templates', status),
      ),
    get: (id, signal) =>
      withSubject({ kind: 'template', id }, findSimilarIds, async () => {
        const response = await send({
          method: 'GET',
          path: `/esign/templates/${encodeURIComponent(id)}`,
          signal,
        });
        const { data } = readAs(resourceResponseSchema, response.body, 'a template', response.status);
        return readAs(templateSchema, data, 'a template', response.status);
      }),
  };
}
