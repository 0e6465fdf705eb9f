// The list of deliveries: by ID, filtered here, newest first.
import { el, eventName, say, shown, time } from './dom.js';

/** The limits of the listener: all deliveries, and refused ones, which anyone can send. */
const MOST = 1_000;
const MAX_REFUSED = 250;
const STATES = { verified: 'verified', unchecked: 'not checked', refused: 'refused' };
const SEARCH_MS = 150;
const MOST_OFFERED = 50;

export class List {
  /** @param {{ onOpen: (id: string) => void }} options */
  constructor({ onOpen }) {
    this.onOpen = onOpen;
    this.rows = new Map();
    this.items = new Map();
    this.opened = null;
    this.found = null;
    this.element = document.querySelector('#list');
    this.form = document.querySelector('#filters');
    this.form.addEventListener('input', () => this.filter());
    this.form.addEventListener('submit', (event) => event.preventDefault());
    document.querySelector('#clear').addEventListener('click', () => this.clearFilters());
    this.element.addEventListener('click', (event) => {
      const item = event.target.closest('[data-id]');
      if (item) this.onOpen(item.dataset.id);
    });
  }

  /** Clears the list for a new listener. */
  reset() {
    this.rows.clear();
    this.items.clear();
    this.element.replaceChildren();
  }

  /** Adds and updates rows. Returns the number of new ones. */
  take(rows, isLive) {
    const fresh = rows.filter(({ id }) => !this.rows.has(id));
    for (const row of rows) {
      this.rows.set(row.id, row);
      const item = this.itemOf(row, isLive);
      const before = this.items.get(row.id);
      if (before) before.replaceWith(this.keepFocus(before, item));
      else this.element.prepend(item);
      this.items.set(row.id, item);
    }
    this.forgetOldest(MAX_REFUSED, ({ state }) => state === 'refused');
    this.forgetOldest(MOST, () => true);
    if (isLive && fresh.length > 0) say(announced(fresh));
    this.offerChoices();
    if (this.values().text !== '' && fresh.length > 0) this.searchBodies();
    this.show();
    return fresh.length;
  }

  forgetOldest(most, isSelected) {
    const selected = [...this.rows.values()].filter(isSelected);
    for (const { id } of selected.slice(0, Math.max(0, selected.length - most))) {
      this.rows.delete(id);
      this.items.get(id).remove();
      this.items.delete(id);
    }
  }

  keepFocus(before, item) {
    if (before.contains(document.activeElement)) queueMicrotask(() => item.firstElementChild.focus());
    return item;
  }

  itemOf(row, isLive) {
    const { id, receivedAt, event, envelopeId, signer, state, reason, duplicate, passings } = row;
    const line = reason === null ? [envelopeId, signer].filter((text) => text !== null).join(' · ') : reason;
    const button = el(
      'button',
      { type: 'button', 'data-id': id, 'aria-current': id === this.opened ? 'true' : null },
      el('span', { class: `mark ${state}`, role: 'img', 'aria-label': STATES[state] }),
      el(
        'span',
        { class: 'head' },
        eventName(event),
        duplicate && el('span', { class: 'chip' }, 'duplicate'),
      ),
      time(receivedAt),
      el('span', { class: `line ${reason === null ? '' : 'reason'}` }, shown(line)),
      el('span', { class: 'passings' }, passings.map(chipOf)),
    );
    return el('li', { class: isLive && !this.items.has(id) ? 'fresh' : null }, button);
  }

  /** Offers known events and envelopes as filters, except those of refused deliveries. */
  offerChoices() {
    const accepted = [...this.rows.values()].filter(({ state }) => state !== 'refused');
    const select = this.form.elements.event;
    const offered = new Set([...select.options].map(({ value }) => value));
    for (const event of new Set(accepted.map(({ event }) => event))) {
      if (event && !offered.has(event)) select.append(el('option', { value: event }, shown(event)));
    }
    const envelopes = new Set(accepted.map(({ envelopeId }) => envelopeId).filter(Boolean));
    const latest = [...envelopes].reverse().slice(0, MOST_OFFERED);
    document.querySelector('#envelopes').replaceChildren(...latest.map((value) => el('option', { value })));
  }

  values() {
    const { text, event, state, envelope } = this.form.elements;
    return {
      text: text.value.trim().toLowerCase(),
      event: event.value,
      state: state.value,
      envelope: envelope.value.trim(),
    };
  }

  setFilter(name, value) {
    this.form.elements[name].value = value;
    this.filter();
  }

  clearFilters() {
    this.form.reset();
    this.filter();
    this.form.elements.text.focus();
  }

  filter() {
    this.found = null;
    clearTimeout(this.searching);
    if (this.values().text !== '') this.searching = setTimeout(() => this.searchBodies(), SEARCH_MS);
    this.show();
  }

  /** Searches bodies and headers, which only the listener has. */
  async searchBodies() {
    const { text } = this.values();
    const reply = await fetch(`search?text=${encodeURIComponent(text)}`).catch(() => null);
    if (!reply?.ok || this.values().text !== text) return;
    this.found = new Set(await reply.json());
    this.show();
  }

  fits(row, { text, event, state, envelope }) {
    if (event !== '' && row.event !== event) return false;
    if (state !== '' && row.state !== state) return false;
    if (envelope !== '' && !(row.envelopeId ?? '').startsWith(envelope)) return false;
    if (text === '' || this.found?.has(row.id)) return true;
    const own = [row.id, row.event, row.envelopeId, row.status, row.signer, row.reason];
    return own.some((part) => part?.toLowerCase().includes(text));
  }

  show() {
    const wanted = this.values();
    let fitting = 0;
    for (const [id, row] of this.rows) {
      const fits = this.fits(row, wanted);
      this.items.get(id).hidden = !fits;
      fitting += Number(fits);
    }
    const isFiltered = Object.values(wanted).some((value) => value !== '');
    const all = `${this.rows.size} ${this.rows.size === 1 ? 'delivery' : 'deliveries'}`;
    const none = this.rows.size === 0;
    document.querySelector('#count').textContent = none
      ? 'No deliveries yet'
      : isFiltered
        ? `${fitting} of ${all}`
        : all;
    document.querySelector('#clear').hidden = !isFiltered;
    document.querySelector('#empty').hidden = this.rows.size > 0;
  }

  buttons() {
    return [...this.element.querySelectorAll('li:not([hidden]) > button')];
  }

  /** Moves the focus by this many rows from the focused or opened one. */
  move(steps) {
    const buttons = this.buttons();
    const focused = buttons.indexOf(document.activeElement);
    const from = focused >= 0 ? focused : buttons.findIndex((button) => button.dataset.id === this.opened);
    const next = buttons[from < 0 ? 0 : Math.min(buttons.length - 1, Math.max(0, from + steps))];
    next?.focus();
    next?.scrollIntoView({ block: 'nearest' });
    return next?.dataset.id;
  }

  /** Marks the opened delivery; the focus returns to it when it is closed. */
  markOpened(id) {
    const before = this.items.get(this.opened)?.firstElementChild;
    before?.removeAttribute('aria-current');
    this.opened = id;
    const now = this.items.get(id)?.firstElementChild;
    now?.setAttribute('aria-current', 'true');
    if (id === null) before?.focus();
  }
}

function chipOf({ url, status, error }) {
  const tone = error === null ? 'good' : 'bad';
  const outcome = status ?? 'failed';
  const label = `forwarded to ${shown(url)}: ${error === null ? 'response' : ''} ${outcome}`;
  return el(
    'span',
    { class: `chip ${tone}`, title: label },
    el('span', { 'aria-hidden': 'true' }, '→ '),
    String(outcome),
  );
}

function announced(rows) {
  if (rows.length > 1) return `${rows.length} new deliveries`;
  const [{ event, state }] = rows;
  return `New delivery: ${shown(event ?? 'unknown event')}, ${STATES[state]}`;
}
