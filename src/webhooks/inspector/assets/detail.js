// The details of a delivery.
import { copy, el, eventName, say, shown, sized } from './dom.js';
import { timeline } from './timeline.js';

const JSON_PART = /("(?:[^"\\]|\\.)*")(\s*:)?|(true|false|null)\b|(-?\d[\d.eE+-]*)/g;
/** Longer text has a single color: more elements would make the page slow. */
const MOST_COLORED = 100_000;
const TITLES = { verified: 'Valid signature', unchecked: 'Signature not checked', refused: 'Refused' };

export class Detail {
  /** @param {{ onClose: () => void, onEnvelope: (id: string) => void }} options */
  constructor({ onClose, onEnvelope }) {
    this.onClose = onClose;
    this.onEnvelope = onEnvelope;
    this.element = document.querySelector('#detail');
    this.id = null;
    this.form = 'pretty';
    this.clear();
  }

  clear() {
    this.id = null;
    document.body.removeAttribute('data-open');
    this.element.replaceChildren(el('p', { class: 'none quiet' }, 'Select a delivery to inspect it.'));
  }

  /** Shows a delivery, or updates it. */
  async open(id) {
    const isNew = id !== this.id;
    this.id = id;
    const reply = await fetch(`deliveries/${encodeURIComponent(id)}`).catch(() => null);
    if (this.id !== id) return;
    document.body.setAttribute('data-open', '');
    if (!reply?.ok)
      return this.show(el('p', { class: 'none' }, reply ? gone(id) : 'No response from the listener.'));
    const delivery = await reply.json();
    if (this.id !== id) return;
    this.delivery = delivery;
    const focus = isNew ? null : document.activeElement?.dataset.key;
    const top = this.element.scrollTop;
    this.show(...this.parts(delivery));
    if (focus) this.element.querySelector(`[data-key="${focus}"]`)?.focus({ preventScroll: true });
    this.element.scrollTop = isNew ? 0 : top;
  }

  show(...parts) {
    const back = button('back', 'All deliveries', { class: 'back link', onclick: () => this.onClose() });
    this.element.replaceChildren(back, ...parts);
  }

  parts(delivery) {
    return [
      this.head(delivery),
      verdictOf(delivery),
      el('section', { class: 'card' }, el('h3', {}, 'What happened'), timeline(delivery)),
      this.bodyOf(delivery),
      headersOf(delivery),
    ];
  }

  head(delivery) {
    const { id, event, envelopeId, status, signer, bytes } = delivery;
    const showOnly = {
      class: 'link mono',
      title: 'Show only this envelope',
      onclick: () => this.onEnvelope(envelopeId),
    };
    const facts = [
      ['Envelope', envelopeId && button('envelope', shown(envelopeId), showOnly)],
      ['Status', status && shown(status)],
      ['Signer', signer && shown(signer)],
      ['Delivery', el('span', { class: 'mono' }, id)],
      ['Size', sized(bytes)],
    ];
    return el(
      'header',
      { class: 'about' },
      el('div', { class: 'bar' }, el('h2', {}, eventName(event)), this.actions(delivery)),
      el(
        'dl',
        { class: 'facts' },
        facts
          .filter(([, value]) => value)
          .map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))),
      ),
    );
  }

  actions({ curl, noReplay }) {
    const replay = {
      class: 'main',
      'aria-disabled': noReplay === null ? null : 'true',
      'aria-describedby': 'replay-note',
      onclick: () => this.replay(),
    };
    return el(
      'div',
      { class: 'actions' },
      button('curl', 'Copy as curl', { disabled: curl === null, onclick: () => this.copyCurl() }),
      button('replay', 'Replay', replay),
      el('p', { class: 'note', id: 'replay-note', role: 'status' }, noReplay ?? ''),
    );
  }

  copyCurl() {
    const button = this.element.querySelector('[data-key="curl"]');
    if (button && this.delivery.curl !== null) copy(this.delivery.curl, button);
  }

  /** Sends it to the application again; the result arrives with the updates. */
  async replay() {
    const button = this.element.querySelector('[data-key="replay"]');
    if (!button || button.hasAttribute('aria-disabled')) return;
    button.setAttribute('aria-disabled', 'true');
    button.textContent = 'Sending';
    const reply = await fetch(`deliveries/${encodeURIComponent(this.id)}/replay`, { method: 'POST' }).catch(
      () => null,
    );
    const results = reply?.ok ? await reply.json() : null;
    const failed = results?.filter(({ error }) => error !== null).length;
    say(
      results === null ? 'Could not be sent' : failed === 0 ? 'Replayed' : `Replayed, ${failed} not accepted`,
    );
    const now = this.element.querySelector('[data-key="replay"]');
    if (!now) return;
    now.removeAttribute('aria-disabled');
    now.textContent = 'Replay';
    const note = this.element.querySelector('#replay-note');
    if (results === null && note) note.textContent = 'The delivery could not be sent.';
  }

  bodyOf(delivery) {
    const { raw, pretty, isWhole, isText, bytes } = delivery;
    const code = el('code', {});
    const pre = el('pre', { class: 'body', tabindex: '0', 'aria-label': 'Body' }, code);
    const buttons = [
      button('pretty', 'Pretty', { disabled: pretty === null, onclick: () => choose('pretty') }),
      button('raw', 'Raw', { onclick: () => choose('raw') }),
    ];
    const choose = (form) => {
      this.form = form;
      const isPretty = form === 'pretty' && pretty !== null;
      code.replaceChildren(...(isPretty ? highlighted(pretty) : [shown(raw)]));
      pre.classList.toggle('raw', !isPretty);
      for (const button of buttons)
        button.setAttribute('aria-pressed', String((button.dataset.key === 'pretty') === isPretty));
    };
    choose(this.form);
    const onCopy = (event) => copy(raw, event.currentTarget);
    const notes = [
      !isText && 'The body is not UTF-8.',
      !isWhole && `Refused deliveries are truncated. The body size was ${sized(bytes)}.`,
    ].filter(Boolean);
    return el(
      'section',
      { class: 'card' },
      el(
        'div',
        { class: 'bar' },
        el('h3', {}, 'Body'),
        el('div', { class: 'switch', role: 'group', 'aria-label': 'Body format' }, buttons),
        button('copy-body', 'Copy', { class: 'small', onclick: onCopy }),
      ),
      notes.length > 0 && el('p', { class: 'quiet' }, notes.join(' ')),
      raw === '' ? el('p', { class: 'quiet' }, 'Empty') : pre,
    );
  }
}

/** Creates a button. When the delivery is updated, the focus returns to the button with the same key. */
function button(key, label, attributes) {
  return el('button', { type: 'button', 'data-key': key, ...attributes }, label);
}

function verdictOf({ verdict, answer, signature }) {
  const title = verdict.state === 'refused' ? `${TITLES.refused} with ${answer}` : TITLES[verdict.state];
  return el(
    'section',
    { class: `verdict ${verdict.state}`, 'aria-label': 'Signature' },
    el('span', { class: `mark ${verdict.state}`, 'aria-hidden': 'true' }),
    el(
      'div',
      {},
      el('h3', {}, title),
      el('p', {}, sentence(shown(verdict.why))),
      verdict.advice && el('p', { class: 'quiet' }, verdict.advice),
      signature &&
        el('p', { class: 'signature mono quiet' }, shown(`${signature.header}: ${signature.value}`)),
    ),
  );
}

function headersOf({ headers }) {
  const rows = headers.map(([name, value]) =>
    el('tr', {}, el('th', { scope: 'row' }, shown(name)), el('td', {}, shown(value))),
  );
  return el(
    'section',
    { class: 'card' },
    el('h3', {}, 'Headers'),
    el('table', { class: 'headers' }, el('tbody', {}, rows)),
  );
}

function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function gone(id) {
  return `No longer available here. See \`esign events show ${id}\`.`;
}

/** Returns pretty JSON as text nodes with colors. */
function highlighted(text) {
  if (text.length > MOST_COLORED) return [shown(text)];
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(JSON_PART)) {
    const [all, string, colon, word, number] = match;
    nodes.push(shown(text.slice(from, match.index)));
    if (string !== undefined)
      nodes.push(el('span', { class: colon ? 'key' : 'string' }, shown(string)), colon ?? '');
    else nodes.push(el('span', { class: word ? 'word' : 'number' }, word ?? number));
    from = match.index + all.length;
  }
  nodes.push(shown(text.slice(from)));
  return nodes;
}
