// Live view of the webhooks that `esign listen` receives: the list and its filters.
import { Detail } from './delivery.js';
import { el, eventName, shown, TONES } from './elements.js';
import { time } from './times.js';

/** As many as the listener keeps. */
const MAX_ROWS = 1_000;
/** Deliveries that are not older than this are highlighted when they appear, in ms. */
const FRESH_MS = 5_000;

const [list, filters, connection] = ['#list', '#filters', '#connection'].map((name) =>
  document.querySelector(name),
);
const detail = new Detail({ onEnvelope: (id) => setFilter(id) });
/** The items of the list by the ID of their delivery. */
const items = new Map();

/** Follows the listener's updates. After a break, the browser reconnects and sends the ID of the last one. */
function follow() {
  const source = new EventSource('news');
  source.addEventListener('open', () => showConnection('good', 'Live'));
  source.addEventListener('error', () => showConnection('warn', 'Listener disconnected. Reconnecting…'));
  source.addEventListener('deliveries', (message) => take(JSON.parse(message.data)));
}

function showConnection(tone, text) {
  connection.className = `row connection ${tone}`;
  connection.textContent = text;
}

/** Adds and updates deliveries. */
function take(rows) {
  for (const row of rows) {
    const known = items.get(row.id);
    if (known) known.firstElementChild.replaceChildren(...partsOf(row));
    else addItem(row);
    if (row.id === detail.id) detail.open(row.id);
  }
  for (const [id, item] of [...items].slice(0, Math.max(0, items.size - MAX_ROWS))) {
    items.delete(id);
    item.remove();
  }
  filter();
}

function addItem(row) {
  const isFresh = Date.now() - Date.parse(row.receivedAt) < FRESH_MS;
  const link = { href: `#${row.id}`, 'aria-current': row.id === detail.id && 'true' };
  const item = el('li', { class: isFresh && 'fresh' }, el('a', link, partsOf(row)));
  items.set(row.id, item);
  list.prepend(item);
}

function partsOf({ receivedAt, event, envelopeId, signer, state, reason, duplicate, passings }) {
  const line = reason ?? [envelopeId, signer].filter(Boolean).join(' · ');
  return [
    el('span', { class: `mark ${TONES[state]}`, role: 'img', 'aria-label': state }),
    el('span', { class: 'row' }, eventName(event), duplicate && el('span', { class: 'chip' }, 'duplicate')),
    time(receivedAt),
    el('span', { class: reason === null ? 'line' : 'line reason' }, shown(line)),
    el('span', { class: 'passings' }, passings.map(chipOf)),
  ];
}

function chipOf({ url, status, error }) {
  const outcome = status ?? 'failed';
  const attributes = {
    class: `chip ${error === null ? 'good' : 'bad'}`,
    title: `forwarded to ${shown(url)}: ${outcome}`,
  };
  return el('span', attributes, `→ ${outcome}`);
}

/** Shows the deliveries that match the filters. The listener searches, because only it has the bodies and headers. */
async function filter() {
  const query = String(new URLSearchParams(new FormData(filters)));
  const isFiltered = [...new FormData(filters).values()].some((value) => value !== '');
  const reply = isFiltered ? await fetch(`search?${query}`).catch(() => null) : null;
  const found = reply?.ok ? new Set(await reply.json()) : null;
  if (String(new URLSearchParams(new FormData(filters))) !== query) return;
  for (const [id, item] of items) item.hidden = found !== null && !found.has(id);
  const all = `${items.size} ${items.size === 1 ? 'delivery' : 'deliveries'}`;
  const count = found === null ? all : `${list.querySelectorAll('li:not([hidden])').length} of ${all}`;
  document.querySelector('#count').textContent = items.size === 0 ? 'No deliveries yet' : count;
  document.querySelector('#clear').hidden = !isFiltered;
  document.querySelector('#empty').hidden = items.size > 0;
}

function setFilter(text) {
  filters.elements.text.value = text;
  filter();
}

/** Opens the delivery that the address names, or closes the opened one. */
function openFromAddress() {
  const [from, id] = [detail.id, location.hash.slice(1) || null];
  if (from === id) return;
  items.get(from)?.firstElementChild.removeAttribute('aria-current');
  items.get(id)?.firstElementChild.setAttribute('aria-current', 'true');
  if (id === null) detail.close();
  else detail.open(id);
}

filters.addEventListener('input', filter);
filters.addEventListener('reset', () => setTimeout(filter));
filters.addEventListener('submit', (event) => event.preventDefault());
addEventListener('hashchange', openFromAddress);
openFromAddress();
follow();
