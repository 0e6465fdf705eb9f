// Creates elements from data. Text from outside only becomes text nodes, never markup.

/** Creates an element; children that are null or false are skipped, and strings become text. */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

const ACTING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const WRITING = new Set(['\n', '\t', '\u200c', '\u200d']);

/** Makes invisible and direction-changing characters of third-party text visible. */
export function shown(text) {
  return text.replace(ACTING, (sign) => {
    if (WRITING.has(sign)) return sign;
    const code = sign.codePointAt(0);
    return code < 0x20
      ? String.fromCodePoint(0x2400 + code)
      : `<${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

/** The event's name, with the common prefix set apart. */
export function eventName(event) {
  if (event === null) return [el('span', { class: 'event' }, 'unknown event')];
  const [, before, name] = /^(envelope\.)?(.*)$/s.exec(event);
  return [el('span', { class: 'event' }, before && el('span', { class: 'quiet' }, before), shown(name))];
}

const clockTime = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const exactly = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'medium',
});

/** A time of day, with the full time as attribute. */
export function time(iso, { exact = false } = {}) {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return el('span', {}, shown(iso));
  const ms = exact ? `.${String(date.getMilliseconds()).padStart(3, '0')}` : '';
  return el(
    'time',
    { datetime: date.toISOString(), title: exactly.format(date) },
    `${clockTime.format(date)}${ms}`,
  );
}

/** A duration in a suitable unit. */
export function lasting(ms) {
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 3_600_000)} h`;
}

/** A size in a suitable unit. */
export function sized(bytes) {
  return bytes < 1_024 ? `${bytes} bytes` : `${(bytes / 1_024).toFixed(1)} KiB`;
}

/** Copies text and confirms it on the button. */
export async function copy(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
    say('Copied');
  } catch {
    button.textContent = 'Not allowed';
  }
  setTimeout(() => {
    button.textContent = before;
  }, 1_500);
}

const announcement = document.querySelector('#announcement');

/** Announces text to screen readers. */
export function say(text) {
  announcement.textContent = text;
}
