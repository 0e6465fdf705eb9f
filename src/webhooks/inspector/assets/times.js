// Shows times and durations.

import { el, shown } from './elements.js';

const clockTime = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const exactTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** A time of day, with the date as its tooltip. */
export function time(iso) {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return el('span', {}, shown(iso));
  return el('time', { datetime: iso, title: exactTime.format(date) }, clockTime.format(date));
}

/** A duration in a suitable unit. */
export function lasting(ms) {
  if (ms < 1_000) return `${ms} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}
