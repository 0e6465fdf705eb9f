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
