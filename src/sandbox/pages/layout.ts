import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { grouped } from '../../kernel/duration.ts';
import { dateTime } from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import { servedPage } from '../../pages/layout.ts';
import type { ServiceContext } from '../service/base/web.ts';

/** The content security policy: only files of the sandbox may load, no page may frame these pages, and forms may only post here. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "font-src 'self'",
  "script-src 'self'",
  "worker-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const NAVIGATION = [
  ['/', 'Dashboard'],
  ['/envelopes', 'Envelopes'],
  ['/mailbox', 'Mailbox'],
  ['/deliveries', 'Webhooks'],
] as const;

interface PageContent {
  title: string;
  body: Html;
  /** For a signer: without the sandbox's navigation. */
  isForSigner?: boolean;
  /** Styles and scripts for this page only. */
  files?: readonly string[];
  status?: ContentfulStatusCode;
}

/** Responds with a complete page. */
export function respondWithPage(c: ServiceContext, content: PageContent): Response {
  const { title, isForSigner = false, files = [], status = 200 } = content;
  const body = html`<a class="skip" href="#main">Skip to content</a>
${isForSigner ? html`<header class="top">${logoAndName('Signature request')}</header>` : header(c)}
<main id="main" tabindex="-1">${content.body}</main>
<footer>
${isForSigner ? '' : 'Emails stay on this machine. '}This is a test environment: signatures are not legally binding.
</footer>`;
  const look = isForSigner ? 'signer' : '';
  const parts = { title: `${title} · esign sandbox`, look, body, now: c.var.now };
  const text = servedPage(parts, '/assets/', ['sandbox.css', ...files]);
  return c.html(text, status, {
    'Content-Security-Policy': POLICY,
    // A signing link is a secret, so it must not be sent to other sites as a referrer.
    'Referrer-Policy': 'same-origin',
    'X-Frame-Options': 'DENY',
  });
}

function logoAndName(label: string): Html {
  return html`<p class="row brand">
<img src="/assets/icon.svg" alt="" width="22" height="22"> <span>${label}</span> <span class="chip warn">Sandbox</span>
</p>`;
}

function header(c: ServiceContext): Html {
  const isCurrent = (path: string) =>
    path === '/' ? c.req.path === '/' : c.req.path === path || c.req.path.startsWith(`${path}/`);
  const link = ([path, label]: readonly [string, string]) =>
    html`<a href="${path}" ${isCurrent(path) && html`aria-current="page"`}>${label}</a>`;
  const { now } = c.var;
  return html`<header class="top">
${logoAndName('esign')}
<nav class="row" aria-label="Sandbox">${NAVIGATION.map(link)}</nav>
${now && html`<a class="clock" href="/#clock">Clock: ${dateTime(now)}</a>`}
</header>`;
}

/** Returns a form with one button. */
export function postButton(path: string, label: string): Html {
  return html`<form method="post" action="${path}"><button class="small">${label}</button></form>`;
}

/** The number of rows on one page of a list. */
const PAGE_SIZE = 50;

/** A page of a list, with links to the others. */
export interface PagedList<T> {
  shown: readonly T[];
  /** `1 to 50 of 509`, with links if there is more than one page. */
  links: Html;
}

/** Returns the page selected by `?page=`; by default, the first one. The links keep the rest of the query. */
export function selectPage<T>(c: ServiceContext, all: readonly T[]): PagedList<T> {
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
  const links = html`<nav class="row" aria-label="Pages">
    <span class="quiet">${grouped(from + 1)} to ${grouped(from + shown.length)} of ${grouped(all.length)}</span>
    ${link(current - 1, 'Newer')} ${link(current + 1, 'Older')}
  </nav>`;
  return { shown, links };
}

/** A command that creates and sends an envelope from a template that every sandbox has. */
export const CREATE_COMMAND = 'esign envelopes create --template tmpl_nda --signer ada@example.com --send';
