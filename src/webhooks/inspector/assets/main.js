// Live view of the webhooks that `esign listen` receives.
import { Detail } from './detail.js';
import { copy } from './dom.js';
import { List } from './list.js';
import { follow } from './stream.js';

const STATES = { live: 'Live', waiting: 'The listener is away; trying again' };

const list = new List({ onOpen: open });
const detail = new Detail({ onClose: close, onEnvelope: (id) => list.setFilter('envelope', id) });
let hasStarted = false;

/** @param {string} id */
async function open(id, { focus = true } = {}) {
  list.markOpened(id);
  history.replaceState(null, '', `#${id}`);
  await detail.open(id);
  if (focus) detail.element.focus({ preventScroll: true });
}

function close() {
  detail.clear();
  history.replaceState(null, '', location.pathname);
  list.markOpened(null);
}

follow({
  onState: (state) => {
    const shown = document.querySelector('#connection');
    if (shown.dataset.state === state) return;
    shown.dataset.state = state;
    shown.textContent = STATES[state];
  },
  onStart: ({ listensAt, isFresh }) => {
    if (isFresh && hasStarted) list.reset();
    document.querySelector('#address').textContent = listensAt;
    document.querySelector('#try').textContent = `esign events trigger completed --to ${listensAt}`;
    list.show();
    const opened = decodeURIComponent(location.hash.slice(1));
    if (!hasStarted && /^dlv_[0-9a-f]+$/.test(opened)) open(opened, { focus: false });
    hasStarted = true;
  },
  onDeliveries: (rows, isLive) => {
    list.take(rows, isLive);
    if (rows.some(({ id }) => id === detail.id)) detail.open(detail.id);
  },
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

/** With a delivery open beside the list the next one opens, as in a mail program. */
function step(steps) {
  const id = list.move(steps);
  if (id !== undefined && detail.id !== null && id !== detail.id) open(id, { focus: false });
}

document.addEventListener('keydown', (event) => {
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

/** Escape empties a field, and leaves it when it is empty. */
function leave(field) {
  if (field.value === '') return field.blur();
  field.value = '';
  list.filter();
}
