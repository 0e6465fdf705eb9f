import { type Content, type Html, html } from './html.ts';

/**
 * Returns a table, or a replacement if `rows` is empty. On a phone, each row becomes a card and each cell shows its label.
 * The ARIA roles are explicit because a table displayed as blocks loses its implicit roles.
 */
export function table(
  heads: readonly string[],
  rows: readonly (readonly Content[])[],
  whenEmpty: Html | string,
): Html {
  if (rows.length === 0)
    return typeof whenEmpty === 'string' ? html`<p class="quiet">${whenEmpty}</p>` : whenEmpty;
  const cell = (content: Content, index: number) =>
    html`<td role="cell" data-label="${heads[index]}"><div>${content}</div></td>`;
  return html`<div class="card table">
<table role="table">
<thead role="rowgroup"><tr role="row">${heads.map((head) => html`<th role="columnheader" scope="col">${head}</th>`)}</tr></thead>
<tbody role="rowgroup">
${rows.map((row) => html`<tr role="row">${row.map(cell)}</tr>\n`)}
</tbody>
</table>
</div>`;
}

/** A name, such as `Created`, and its value. */
export type Fact = readonly [name: string, value: Content];

/** Returns a list of names and values, without empty ones. */
export function factList(pairs: readonly Fact[]): Html {
  const shown = pairs.filter(([, value]) => html`${value}`.text !== '');
  return html`<dl class="facts">
${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}
</dl>`;
}

/** Returns the content of an empty list: a sentence, and a command that adds an item. */
export function emptyState(title: string, hint?: string, example?: string): Html {
  return html`<div class="card empty">
<p class="title">${title}</p>
${hint && html`<p>${hint}</p>`} ${example && copyableText(example)}
</div>`;
}

/** Returns text with a button that copies it. Without the page's script, the button stays hidden. */
export function copyableText(text: string): Html {
  return html`<div class="copyable"><pre>${text}</pre><button type="button" class="small" data-copy hidden>Copy</button></div>`;
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
export function statusChip(status: string): Html {
  return html`<span class="chip ${TONES[status]}">${status.toLowerCase().replaceAll('_', ' ')}</span>`;
}

const DAY = { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const;
const FORMATS = {
  day: new Intl.DateTimeFormat('en-GB', DAY),
  minute: new Intl.DateTimeFormat('en-GB', { ...DAY, month: 'short', hour: '2-digit', minute: '2-digit' }),
};

/** Returns a time such as `22 Nov 2026, 09:05 UTC`. The page's script replaces it with the local time. */
export function dateTime(iso: string): Html {
  return time(iso, `${FORMATS.minute.format(new Date(iso))} UTC`, 'minute');
}

/** Returns a time to which the page's script adds how long ago it was. */
export function timeWithAge(iso: string): Html {
  return time(iso, `${FORMATS.minute.format(new Date(iso))} UTC`, 'both');
}

/** Returns a day, such as `22 December 2026`. */
export function day(iso: string): Html {
  return time(iso, FORMATS.day.format(new Date(iso)), 'day');
}

function time(iso: string, text: string, shown: 'minute' | 'both' | 'day'): Html {
  return html`<time datetime="${iso}" title="${iso}" data-shown="${shown}">${text}</time>`;
}
