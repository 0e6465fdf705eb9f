// The details of a delivery.
import { el, eventName, shown, TONES } from './elements.js';
import { copy } from './page.js';
import { lasting, time } from './times.js';

const JSON_PART = /("(?:[^"\\]|\\.)*")(\s*:)?|(true|false|null)\b|(-?\d[\d.eE+-]*)/g;
/** Longer text has a single color: more elements would make the page slow. */
const MAX_COLORED = 100_000;
const TITLES = { verified: 'Valid signature', unchecked: 'Signature not checked', refused: 'Refused with' };

export class Detail {
  /** The ID of the opened delivery. */
  id = null;
  element = document.querySelector('#detail');
  prefersRaw = false;

  /** @param {{ onEnvelope: (id: string) => void }} options */
  constructor({ onEnvelope }) {
    this.onEnvelope = onEnvelope;
    this.close();
  }

  close() {
    this.id = null;
    document.body.removeAttribute('data-open');
    this.element.replaceChildren(el('p', { class: 'none quiet' }, 'Select a delivery to inspect it.'));
  }

  /** Shows a delivery, or updates it. */
  async open(id) {
    const isNew = id !== this.id;
    this.id = id;
    const reply = await fetch(`deliveries/${encodeURIComponent(id)}`).catch(() => null);
    const delivery = reply?.ok ? await reply.json() : null;
    if (this.id !== id) return;
    document.body.setAttribute('data-open', '');
    this.delivery = delivery;
    const focused = document.activeElement?.id;
    const back = el('a', { href: '#', class: 'back' }, '← All deliveries');
    const gone = reply
      ? `No longer available. Run \`esign events show ${id}\`.`
      : 'No response from the listener.';
    this.element.replaceChildren(back, ...(delivery ? this.parts() : [el('p', { class: 'none' }, gone)]));
    if (isNew) this.element.scrollTo(0, 0);
    else if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  parts() {
    const { headers } = this.delivery;
    return [
      this.head(),
      this.verdict(),
      el('section', { class: 'card' }, el('h3', {}, 'What happened'), this.timeline()),
      this.body(),
      el('section', { class: 'card' }, el('h3', {}, 'Headers'), pairs('facts mono', headers)),
    ];
  }

  head() {
    const { id, event, envelopeId, status, signer, bytes, curl, noReplay } = this.delivery;
    const only = { class: 'link mono', title: 'Show only this envelope' };
    const envelope = button('envelope', shown(envelopeId ?? ''), () => this.onEnvelope(envelopeId), only);
    const facts = [
      ['Envelope', envelopeId && envelope],
      ['Status', status],
      ['Signer', signer],
      ['Delivery', id],
      ['Size', bytes < 1_024 ? `${bytes} bytes` : `${(bytes / 1_024).toFixed(1)} KiB`],
    ];
    const onCopy = (event) => copy(curl, event.currentTarget);
    const replay = { class: 'main', 'aria-disabled': noReplay !== null && 'true' };
    const actions = el(
      'div',
      { class: 'row' },
      button('curl', 'Copy as curl', onCopy, { disabled: curl === null }),
      button('replay', 'Replay', () => this.replay(), replay),
      el('p', { class: 'quiet', id: 'note', role: 'status' }, noReplay ?? ''),
    );
    const bar = el('div', { class: 'row bar' }, el('h2', {}, eventName(event)), actions);
    const known = facts.filter(([, value]) => value);
    return el('header', {}, bar, pairs('row summary', known));
  }

  /** Sends it to the application again; the result arrives with the updates. */
  async replay() {
    const button = document.querySelector('#replay');
    if (button === null || button.hasAttribute('aria-disabled')) return;
    button.setAttribute('aria-disabled', 'true');
    const { id } = this;
    const address = `deliveries/${encodeURIComponent(id)}/replay`;
    const reply = await fetch(address, { method: 'POST' }).catch(() => null);
    if (this.id !== id) return;
    // An update may have created the buttons again.
    document.querySelector('#replay').removeAttribute('aria-disabled');
    document.querySelector('#note').textContent = reply?.ok ? 'Replayed.' : 'The delivery could not be sent.';
  }

  /** Whether the signature is valid, why, and how to fix it. */
  verdict() {
    const { verdict, answer, signature } = this.delivery;
    const { state, why, advice } = verdict;
    const title = state === 'refused' ? `${TITLES.refused} ${answer}` : TITLES[state];
    const given = signature && shown(`${signature.header}: ${signature.value}`);
    return el(
      'section',
      { class: `verdict ${TONES[state]}`, 'aria-label': 'Signature' },
      el('span', { class: `mark ${TONES[state]}`, 'aria-hidden': 'true' }),
      el(
        'div',
        {},
        el('h3', {}, title),
        el('p', {}, `${why.charAt(0).toUpperCase()}${shown(why.slice(1))}.`),
        advice && el('p', { class: 'quiet' }, advice),
        given && el('p', { class: 'mono quiet' }, given),
      ),
    );
  }

  /** What happened at the service, here, and at the application it was forwarded to. */
  timeline() {
    const { happenedAt, receivedAt, answer, answeredInMs, duplicate, verdict, passings } = this.delivery;
    const lag = Date.parse(receivedAt) - Date.parse(happenedAt ?? '');
    const notes = [
      lag >= 0 && `${lasting(lag)} later`,
      lag < 0 && 'before it happened: the clocks differ',
      duplicate && 'duplicate',
      `responded with ${answer}${answeredInMs === null ? '' : ` in ${lasting(answeredInMs)}`}`,
    ];
    return el(
      'ol',
      { class: 'timeline' },
      happenedAt && step(happenedAt, 'Time at the service', '', ''),
      step(receivedAt, 'Received', notes.filter(Boolean).join(', '), TONES[verdict.state]),
      passings.map(({ url, attempt, status, ms, error, at, replay }) => {
        const what = replay ? 'Replayed' : attempt > 1 ? `Attempt ${attempt}` : 'Forwarded';
        const note = `${error === null ? `responded with ${status}` : shown(error)} in ${lasting(ms)}`;
        return step(at, `${what} to ${shown(url)}`, note, error === null ? 'good' : 'bad');
      }),
    );
  }

  body() {
    const { raw, pretty, isWhole, isText } = this.delivery;
    const code = el('code');
    const choose = (isPretty) => {
      this.prefersRaw = !isPretty && pretty !== null;
      code.replaceChildren(...(isPretty ? colored(pretty) : [shown(raw)]));
      for (const [at, one] of forms.entries())
        one.setAttribute('aria-pressed', String((at === 0) === isPretty));
    };
    const forms = [
      button('pretty', 'Pretty', () => choose(true), { class: 'small', disabled: pretty === null }),
      button('raw', 'Raw', () => choose(false), { class: 'small' }),
    ];
    choose(pretty !== null && !this.prefersRaw);
    const onCopy = (event) => copy(raw, event.currentTarget);
    return el(
      'section',
      { class: 'card' },
      el(
        'div',
        { class: 'row bar' },
        el('h3', {}, 'Body'),
        el('div', { class: 'switch', role: 'group', 'aria-label': 'Body format' }, forms),
        button('copy', 'Copy', onCopy, { class: 'small' }),
      ),
      !isText && el('p', { class: 'quiet' }, 'The body is not UTF-8.'),
      !isWhole && el('p', { class: 'quiet' }, 'Refused deliveries are truncated.'),
      el('pre', { class: 'body', tabindex: '0', 'aria-label': 'Body' }, code),
    );
  }
}

/** Creates a button. When the delivery is updated, the focus returns to the button with the same ID. */
function button(id, label, onclick, attributes = {}) {
  return el('button', { type: 'button', id, onclick, ...attributes }, label);
}

/** Creates a list of names and values. */
function pairs(name, all) {
  const pair = ([term, value]) =>
    el('div', {}, el('dt', {}, shown(term)), el('dd', {}, typeof value === 'string' ? shown(value) : value));
  return el('dl', { class: name }, all.map(pair));
}

function step(at, title, note, tone) {
  const what = el('span', {}, title, ' ', el('span', { class: 'quiet' }, note));
  return el('li', { class: tone }, time(at), what);
}

/** Returns JSON as text nodes with colors. */
function colored(text) {
  if (text.length > MAX_COLORED) return [shown(text)];
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(JSON_PART)) {
    const [all, string, colon = '', word, number] = match;
    nodes.push(shown(text.slice(from, match.index)));
    const kind = string ? (colon ? 'key' : 'string') : word ? 'word' : 'number';
    nodes.push(el('span', { class: kind }, shown(string ?? word ?? number)), colon);
    from = match.index + all.length;
  }
  return [...nodes, shown(text.slice(from))];
}
