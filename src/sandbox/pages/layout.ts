import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { longDay } from '../documents/drawing/times.ts';
import type { ServiceContext } from '../service/base/web.ts';

export type Html = ReturnType<typeof html>;

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
  body: Html | Promise<Html>;
  /** A script for this page only. */
  script?: string;
  /** Style sheets for this page only. */
  styles?: readonly string[];
  /** For a signer: without the sandbox's navigation. */
  isForSigner?: boolean;
  status?: ContentfulStatusCode;
}

/** Responds with a complete page. Values in `html` templates are escaped. */
export async function page(c: ServiceContext, content: PageContent): Promise<Response> {
  const { title, script, styles = [], isForSigner = false } = content;
  const text = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · esign sandbox</title>
        <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
        ${['design.css', 'style.css', 'tables.css', ...styles].map(
          (name) => html`<link rel="stylesheet" href="/assets/${name}" />`,
        )}
        <script type="module" src="/assets/page.js"></script>
        ${script === undefined ? '' : html`<script type="module" src="/assets/${script}"></script>`}
      </head>
      <body class="${isForSigner ? 'signer' : ''}" data-now="${c.var.now ?? ''}">
        <a class="skip" href="#main">Skip to content</a>
        ${isForSigner ? html`<header class="top">${brand('Signature request')}</header>` : header(c)}
        <main id="main" tabindex="-1">${await content.body}</main>
        <footer>
          ${isForSigner ? '' : 'Emails stay on this machine. '}This is a test environment: signatures are not legally binding.
        </footer>
      </body>
    </html>`;
  return c.html(text, content.status ?? 200, {
    'Content-Security-Policy': POLICY,
    // A signing link is a secret, so it must not be sent to other sites as a referrer.
    'Referrer-Policy': 'same-origin',
    'X-Frame-Options': 'DENY',
  });
}

function brand(label: string) {
  return html`<p class="brand">
    <img src="/assets/icon.svg" alt="" width="22" height="22" /> <span>${label}</span> <span class="chip warn">Sandbox</span>
  </p>`;
}

function header(c: ServiceContext) {
  const isCurrent = (path: string) =>
    path === '/' ? c.req.path === '/' : c.req.path === path || c.req.path.startsWith(`${path}/`);
  const { now } = c.var;
  return html`<header class="top">
    ${brand('esign')}
    <nav aria-label="Sandbox">
      ${NAVIGATION.map(
        ([path, label]) =>
          html`<a href="${path}" ${isCurrent(path) ? html`aria-current="page"` : ''}>${label}</a>`,
      )}
    </nav>
    ${now === undefined ? '' : html`<a class="clock" href="/#clock">Clock: ${dateTime(now)}</a>`}
  </header>`;
}

/**
 * Returns a table, or a replacement if `rows` is empty. On a phone, each row becomes a card and each cell shows its label.
 * The ARIA roles are explicit because a table displayed as blocks loses its implicit roles.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly unknown[])[],
  whenEmpty: Html | string,
): Html {
  if (rows.length === 0)
    return typeof whenEmpty === 'string' ? html`<p class="quiet">${whenEmpty}</p>` : whenEmpty;
  return html`<div class="card table">
    <table role="table">
      <thead role="rowgroup">
        <tr role="row">
          ${head.map((text) => html`<th role="columnheader" scope="col">${text}</th>`)}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${rows.map((row) => html`<tr role="row">${row.map((cell, index) => html`<td role="cell" data-label="${head[index] ?? ''}"><div>${cell}</div></td>`)}</tr>`)}
      </tbody>
    </table>
  </div>`;
}

/** Returns the content of an empty list: a sentence, and a command that adds an item. */
export function empty(title: string, hint?: string, example?: string): Html {
  return html`<div class="card empty">
    <p class="title">${title}</p>
    ${hint === undefined ? '' : html`<p>${hint}</p>`} ${example === undefined ? '' : copyable(example)}
  </div>`;
}

/** Returns text to copy. The page's script adds the button. */
export function copyable(text: string): Html {
  return html`<pre data-copy>${text}</pre>`;
}

/** Returns a list of names and values, without empty ones. */
export function facts(pairs: Readonly<Record<string, unknown>>): Html {
  const shown = Object.entries(pairs).filter(
    ([, value]) => value !== '' && value !== null && value !== undefined,
  );
  return html`<dl class="facts">
    ${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

/** Returns a form with one button. `form` is the token that it must contain. */
export function postButton(path: string, label: string, form: string): Html {
  return html`<form method="post" action="${path}">
    <input type="hidden" name="form" value="${form}" /><button class="small">${label}</button>
  </form>`;
}

const TONES: Readonly<Record<string, string>> = {
  COMPLETED: 'good',
  SIGNED: 'good',
  delivered: 'good',
  SENT: 'active',
  VIEWED: 'active',
  IN_PROGRESS: 'active',
  pending: 'active',
  DECLINED: 'bad',
  failed: 'bad',
  EXPIRED: 'warn',
  CANCELLED: 'warn',
};

/** Returns a status as a colored chip. */
export function state(word: string): Html {
  return chip(word.toLowerCase().replaceAll('_', ' '), TONES[word]);
}

function chip(text: string, tone = ''): Html {
  return html`<span class="chip ${tone}">${text}</span>`;
}

/** Formats a number as `5,001`. */
export function number(count: number): string {
  return count.toLocaleString('en-US');
}

/** Formats a count as `5,001 envelopes` or `1 envelope`. */
export function plural(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/* Times are in UTC. The page's script replaces them with local times and adds how long ago they were. */

const MINUTES = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

/** Returns a time element such as `22 Nov 2026, 09:05 UTC`. */
export function dateTime(iso: string, shown = 'time') {
  const text = shown === 'day' ? longDay(iso) : `${MINUTES.format(new Date(iso))} UTC`;
  return html`<time datetime="${iso}" title="${iso}" data-shown="${shown}">${text}</time>`;
}

/** Returns a time element for a table column, which also shows how long ago it was. */
export function when(iso: string) {
  return dateTime(iso, 'both');
}

/** Returns a time element for a day, such as `22 December 2026`. */
export function day(iso: string) {
  return dateTime(iso, 'day');
}

/** The number of rows on one page of a list. */
const PAGE_SIZE = 50;

/** A page of a list, with links to the others. */
export interface Paged<T> {
  shown: readonly T[];
  /** `1 to 50 of 509`, with links if there is more than one page. */
  links: Html;
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

/** A command that creates and sends an envelope from a template that every sandbox has. */
export const CREATE_COMMAND = 'esign envelopes create --template tmpl_nda --signer ada@example.com --send';
