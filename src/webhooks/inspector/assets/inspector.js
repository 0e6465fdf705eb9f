// Live view of the webhooks that `esign listen` receives: the list, its filters, and the keys.
import { Detail } from './delivery.js';
import { el, eventName, shown, TONES, time } from './elements.js';

/** How soon the page connects again after an error response. */
const AGAIN_MS = 2_000;
/** As many as the listener keeps. */
const MAX_ROWS = 1_000;

const [list, filters, connection] = ['#list', '#filters', '#connection'].map((name) =>
  document.querySelector(name),
);
const detail = new Detail({ onEnvelope: (id) => setFilter(id) });
/** The items of the list by the ID of their delivery. */
const items = new Map();
/** The number of the last update received, and that of the listener's last one when it connected: later ones are live. */
let seen = 0;
let before = 0;

/** Follows the listener's updates. After a break, the browser reconnects and sends the ID of the last one. */
function follow() {
  const source = new EventSource(`news?after=${seen}`);
  source.addEventListener('start', (message) => start(JSON.parse(message.data)));
  source.addEventListener('deliveries', (message) => {
    seen = Number(message.lastEventId);
    take(JSON.parse(message.data), seen > before);
  });
  source.addEventListener('error', () => {
    connection.className = 'row connection warn';
    connection.textContent = 'Listener disconnected. Reconnecting…';
    // The browser gave up, as after an error response; a new source doesn't know the last ID.
    if (source.readyState === EventSource.CLOSED) setTimeout(follow, AGAIN_MS);
  });
  addEventListener('pagehide', () => source.close(), { once: true });
}

function start({ isFresh, change }) {
  connection.className = 'row connection good';
  connection.textContent = 'Live';
  before = change;
  if (isFresh) {
    items.clear();
    list.replaceChildren();
  }
  openFromAddress();
}

/** Adds and updates deliveries. */
function take(rows, isLive) {
  for (const row of rows) {
    const known = items.get(row.id);
    const item = itemOf(row, isLive && !known);
    if (known?.contains(document.activeElement)) queueMicrotask(() => item.firstElementChild.focus());
    if (known) known.replaceWith(item);
    else list.prepend(item);
    items.set(row.id, item);
    if (row.id === detail.id) detail.open(row.id);
  }
  for (const [id, item] of [...items].slice(0, Math.max(0, items.size - MAX_ROWS))) {
    items.delete(id);
    item.remove();
  }
  filter();
}

function itemOf({ id, receivedAt, event, envelopeId, signer, state, reason, duplicate, passings }, isNew) {
  const line = reason ?? [envelopeId, signer].filter(Boolean).join(' · ');
  const link = el(
    'a',
    { href: `#${id}`, 'aria-current': id === detail.id && 'true' },
    el('span', { class: `mark ${TONES[state]}`, role: 'img', 'aria-label': state }),
    el('span', { class: 'row' }, eventName(event), duplicate && el('span', { class: 'chip' }, 'duplicate')),
    time(receivedAt),
    el('span', { class: reason === null ? 'line' : 'line reason' }, shown(line)),
    el('span', { class: 'passings' }, passings.map(chipOf)),
  );
  return el('li', { class: isNew && 'fresh' }, link);
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
  const count = found === null ? all : `${links().length} of ${all}`;
  document.querySelector('#count').textContent = items.size === 0 ? 'No deliveries yet' : count;
  document.querySelector('#clear').hidden = !isFiltered;
  document.querySelector('#empty').hidden = items.size > 0;
}

function setFilter(text) {
  filters.elements.text.value = text;
  filter();
}

function links() {
  return [...list.querySelectorAll('li:not([hidden]) > a')];
}

/** Scroll position of the list, which the opened delivery replaces on a phone. */
let scrolledTo = 0;

/** Opens the delivery that the address names, or closes the opened one. */
function openFromAddress() {
  const [from, id] = [detail.id, location.hash.slice(1) || null];
  if (from === id) return;
  if (from === null) scrolledTo = scrollY;
  items.get(from)?.firstElementChild.removeAttribute('aria-current');
  items.get(id)?.firstElementChild.setAttribute('aria-current', 'true');
  if (id !== null) return detail.open(id);
  detail.close();
  scrollTo(0, scrolledTo);
  items.get(from)?.firstElementChild.focus();
}

/** Moves through the list. If a delivery is open, opens the next one, as email programs do. */
function step(by) {
  const all = links();
  const focused = all.indexOf(document.activeElement);
  const from = focused >= 0 ? focused : all.findIndex((link) => link.hasAttribute('aria-current'));
  const next = all[from < 0 ? 0 : Math.min(all.length - 1, Math.max(0, from + by))];
  next?.focus();
  if (detail.id !== null) next?.click();
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  '/': () => filters.elements.text.focus(),
  Escape: () => {
    location.hash = '';
  },
  r: () => detail.replay(),
  c: () => detail.copyCurl(),
};

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches('input, select')) {
    if (event.key === 'Escape') event.target.blur();
    return;
  }
  const command = KEYS[event.key];
  if (command === undefined || (event.repeat && command === KEYS.r)) return;
  event.preventDefault();
  command();
});
filters.addEventListener('input', filter);
filters.addEventListener('reset', () => setTimeout(filter));
filters.addEventListener('submit', (event) => event.preventDefault());
addEventListener('hashchange', openFromAddress);
follow();
