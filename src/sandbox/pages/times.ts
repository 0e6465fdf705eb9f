import { html } from 'hono/html';

/* Times are in UTC. The page's script replaces them with local times and adds how long ago they were. */

const MINUTES = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});
const DAYS = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});

/** Returns a time element such as `22 Nov 2026, 09:05 UTC`. */
export function dateTime(iso: string) {
  return html`<time datetime="${iso}" title="${iso}" data-shown="time">${minutes(iso)}</time>`;
}

/** Returns a time element for a table column, which also shows how long ago it was. Returns an empty fragment for null. */
export function when(iso: string | null) {
  if (iso === null) return html``;
  return html`<time datetime="${iso}" title="${iso}" data-shown="both">${minutes(iso)}</time>`;
}

/** Returns a time element for a day, such as `22 December 2026`. */
export function day(iso: string) {
  return html`<time datetime="${iso}" title="${iso}" data-shown="day">${DAYS.format(new Date(iso))}</time>`;
}

function minutes(iso: string): string {
  return `${MINUTES.format(new Date(iso))} UTC`;
}
