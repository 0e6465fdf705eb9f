import { html } from 'hono/html';
import type { ServiceContext } from '../service/base/web.ts';
import { number } from './layout.ts';

/** The number of rows on one page of a list. */
const PAGE_SIZE = 50;

/** A page of a list, with links to the others. */
export interface Paged<T> {
  shown: readonly T[];
  /** `1 to 50 of 509`, with links if there is more than one page. */
  links: ReturnType<typeof html>;
}

/** Returns the page selected by `?page=`; by default, the first one. The links keep the rest of the query. */
export function paged<T>(c: ServiceContext, all: readonly T[]): Paged<T> {
  const last = Math.max(1, Math.ceil(all.length / PAGE_SIZE));
  const asked = Number(c.req.query('page') ?? 1);
  const current = Number.isInteger(asked) ? Math.min(Math.max(asked, 1), last) : 1;
  const from = (current - 1) * PAGE_SIZE;
  const shown = all.slice(from, from + PAGE_SIZE);
  if (all.length <= PAGE_SIZE) return { shown, links: html`` };
  const link = (page: number, label: string) => {
    const query = new URLSearchParams({ ...c.req.query(), page: String(page) });
    return page < 1 || page > last
      ? html``
      : html`<a class="button" href="?${query.toString()}">${label}</a>`;
  };
  const links = html`<nav class="paging" aria-label="Pages">
    <span class="quiet">${number(from + 1)} to ${number(from + shown.length)} of ${number(all.length)}</span>
    ${link(current - 1, 'Newer')} ${link(current + 1, 'Older')}
  </nav>`;
  return { shown, links };
}
