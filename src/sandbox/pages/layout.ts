import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ServiceContext } from '../service/base/web.ts';

type Html = ReturnType<typeof html>;

/** Only what the sandbox itself serves may load; nothing may frame it, and forms go nowhere else. */
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

/** A whole page. Everything put in by `html` templates is escaped. */
export async function page(
  c: ServiceContext,
  content: {
    title: string;
    body: Html | Promise<Html>;
    script?: string;
    /** Uses more of a large screen. */
    isWide?: boolean;
    status?: ContentfulStatusCode;
  },
): Promise<Response> {
  const script =
    content.script === undefined ? '' : html`<script type="module" src="/assets/${content.script}"></script>`;
  const text = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${content.title} · esign sandbox</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/assets/style.css" />
        ${script}
      </head>
      <body class="${content.isWide === true ? 'wide' : ''}">
        <header>
          <span class="mark">SANDBOX</span>
          <nav aria-label="Sandbox">
            <a href="/">Dashboard</a> <a href="/envelopes">Envelopes</a> <a href="/mailbox">Mailbox</a>
            <a href="/deliveries">Webhooks</a> <a href="/requests">Requests</a>
          </nav>
        </header>
        <main>${await content.body}</main>
        <footer>Made in a sandbox on this machine. Nothing is mailed, and nothing is legally binding.</footer>
      </body>
    </html>`;
  return c.html(text, content.status ?? 200, {
    'Content-Security-Policy': POLICY,
    // A signing link is a secret: it must not reach other sites as a referrer.
    'Referrer-Policy': 'same-origin',
    'X-Frame-Options': 'DENY',
  });
}

/** A table, or a sentence when there is nothing. On a phone its rows stack as cards, for which each cell has its label. */
export function table(head: readonly string[], rows: readonly (readonly unknown[])[], empty: string): Html {
  if (rows.length === 0) return html`<p class="quiet">${empty}</p>`;
  return html`<div class="scroll">
    <table role="table">
      <thead role="rowgroup">
        <tr role="row">
          ${head.map((text) => html`<th role="columnheader" scope="col">${text}</th>`)}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${rows.map((row) => html`<tr role="row">${row.map((cell, index) => tableCell(cell, head[index] ?? ''))}</tr>`)}
      </tbody>
    </table>
  </div>`;
}

/** The roles stand here because a table shown as blocks has lost them. */
function tableCell(cell: unknown, label: string): Html {
  return html`<td role="cell" data-label="${label}"><div>${cell}</div></td>`;
}

/** A form that is one button. `form` is the token that it must carry. */
export function postButton(path: string, label: string, form: string): Html {
  return html`<form method="post" action="${path}">
    <input type="hidden" name="form" value="${form}" /><button class="plain small">${label}</button>
  </form>`;
}

/** A status as a word with its colour. */
export function state(word: string): Html {
  return html`<span class="state ${word}">${word.toLowerCase().replaceAll('_', ' ')}</span>`;
}

/** `2026-11-21 09:05:12 UTC`. */
export function time(iso: string | null): string {
  return iso === null ? '' : `${iso.slice(0, 19).replace('T', ' ')} UTC`;
}

/** The same for a column of a table: broken between day and hour where it must be. */
export function when(iso: string | null): Html | string {
  if (iso === null) return '';
  return html`<span class="whole">${iso.slice(0, 10)}</span> <span class="whole">${iso.slice(11, 19)} UTC</span>`;
}
