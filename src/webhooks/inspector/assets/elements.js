// Creates elements from data. Text from outside only becomes text nodes, never markup.

/** Creates an element; children that are null or false are skipped, and strings become text. */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== false));
  return element;
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Makes invisible and direction-changing characters of third-party text visible, except line breaks and tabs. */
export function shown(text) {
  return text.replace(INVISIBLE, (sign) => {
    const code = sign.codePointAt(0);
    if (sign === '\n' || sign === '\t') return sign;
    return code < 0x20
      ? String.fromCodePoint(0x2400 + code)
      : `<${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

/** The tone of each result of checking a signature. */
export const TONES = { verified: 'good', unchecked: 'warn', refused: 'bad' };

/** The event's name, with the common prefix set apart. */
export function eventName(event) {
  const [, prefix, name] = /^(envelope\.)?(.*)$/s.exec(event ?? 'unknown event');
  return el('span', { class: 'event' }, el('span', { class: 'quiet' }, prefix ?? ''), shown(name));
}

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
