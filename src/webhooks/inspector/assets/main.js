// Live view of the webhooks that `esign listen` receives.
import { Detail } from './detail.js';
import { copy } from './dom.js';
import { List } from './list.js';

/** How soon the page connects again after an error response. */
const AGAIN_MS = 2_000;
const STATES = { live: 'Live', waiting: 'Listener disconnected. Reconnecting…' };

const list = new List({ onOpen: open });
const detail = new Detail({ onClose: close, onEnvelope: (id) => list.setFilter('envelope', id) });
const TITLE = document.title;
let hasStarted = false;

/** Scroll position of the list, which the opened delivery replaces on a phone. */
let scrolledTo = 0;

/** Opens a delivery; the browser's back button closes it. */
function open(id, options) {
  if (detail.id === null) {
    scrolledTo = scrollY;
    history.pushState({ isOpened: true }, '', `#${id}`);
  } else history.replaceState(history.state, '', `#${id}`);
  return show(id, options);
}

async function show(id, { focus = true } = {}) {
  list.markOpened(id);
  await detail.open(id);
  if (!focus || detail.id !== id) return;
  detail.element.focus({ preventScroll: true });
  scrollTo(0, 0);
}

function close() {
  if (detail.id === null) return;
  if (history.state?.isOpened) return history.back();
  history.replaceState(null, '', location.pathname);
  hide();
}

function hide() {
  detail.clear();
  scrollTo(0, scrolledTo);
  list.markOpened(null);
}

function idInAddress() {
  const [, id] = /^#(dlv_[0-9a-f]+)$/.exec(location.hash) ?? [];
  return id;
}

addEventListener('popstate', () => {
  const id = idInAddress();
  if (id === undefined) hide();
  else show(id);
});

/** The number of the last update received, and that of the listener's last one when it connected: later ones are live. */
let seen = 0;
let before = 0;

/** Follows the listener's updates. After a break, the browser reconnects and sends the ID of the last one. */
function follow() {
  const source = new EventSource(`news?after=${seen}`);
  source.addEventListener('start', (message) => {
    showState('live');
    start(JSON.parse(message.data));
  });
  source.addEventListener('deliveries', (message) => {
    seen = Number(message.lastEventId);
    take(JSON.parse(message.data), seen > before);
  });
  source.addEventListener('error', () => {
    showState('waiting');
    // The browser gave up, as after an error response; a new source doesn't know the last ID.
    if (source.readyState === EventSource.CLOSED) setTimeout(follow, AGAIN_MS);
  });
  addEventListener('pagehide', () => source.close(), { once: true });
}

function showState(state) {
  const shown = document.querySelector('#connection');
  if (shown.dataset.state === state) return;
  shown.dataset.state = state;
  shown.textContent = STATES[state];
}

function start({ listensAt, isFresh, change }) {
  before = change;
  if (isFresh && hasStarted) list.reset();
  document.querySelector('#address').textContent = listensAt;
  document.querySelector('#try').textContent =
    `esign events trigger completed --to ${listensAt} --secret-file FILE`;
  list.show();
  if (!hasStarted && idInAddress() !== undefined) show(idInAddress(), { focus: false });
  hasStarted = true;
}

function take(rows, isLive) {
  const fresh = list.take(rows, isLive);
  if (isLive && document.hidden) countUnseen(fresh);
  if (rows.some(({ id }) => id === detail.id)) detail.open(detail.id);
}

let unseen = 0;

/** Shows the number of unseen deliveries in the title of a background tab. */
function countUnseen(more) {
  unseen += more;
  document.title = unseen === 0 ? TITLE : `(${unseen}) ${TITLE}`;
}

document.addEventListener('visibilitychange', () => {
  unseen = 0;
  countUnseen(0);
});

const keys = document.querySelector('#keys');
document.querySelector('#show-keys').addEventListener('click', () => keys.showModal());
document.querySelector('#copy-address').addEventListener('click', (event) => {
  copy(document.querySelector('#address').textContent, event.currentTarget);
});

const COMMANDS = {
  j: () => step(1),
  ArrowDown: () => step(1),
  k: () => step(-1),
  ArrowUp: () => step(-1),
  '/': () => list.form.elements.text.focus(),
  Escape: close,
  r: () => detail.replay(),
  c: () => detail.copyCurl(),
  '?': () => keys.showModal(),
};

const MAY_REPEAT = new Set(['j', 'k', 'ArrowDown', 'ArrowUp']);

/** Moves through the list. If a delivery is open, opens the next one, as email programs do. */
function step(steps) {
  const id = list.move(steps);
  if (id !== undefined && detail.id !== null && id !== detail.id) open(id, { focus: false });
}

document.addEventListener('keydown', (event) => {
  if (event.repeat && !MAY_REPEAT.has(event.key)) return;
  if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
  const { target } = event;
  if (target.matches('input, select, textarea')) {
    if (event.key === 'Escape') leave(target);
    return;
  }
  const isArrow = event.key.startsWith('Arrow');
  if (isArrow && detail.element.contains(target)) return;
  const command = COMMANDS[event.key];
  if (command === undefined) return;
  event.preventDefault();
  command();
});

/** Escape clears a field, and leaves it if it is empty. */
function leave(field) {
  if (field.value === '') return field.blur();
  field.value = '';
  list.filter();
}

follow();
