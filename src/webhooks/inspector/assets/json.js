// Pretty JSON with colors, as text nodes.
import { el, shown } from './dom.js';

const PART = /("(?:[^"\\]|\\.)*")(\s*:)?|(true|false|null)\b|(-?\d[\d.eE+-]*)/g;
/** Longer text has a single color: more elements would make the page slow. */
const MOST = 100_000;

/** Returns pretty JSON as a list of nodes. */
export function highlighted(text) {
  if (text.length > MOST) return [shown(text)];
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(PART)) {
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
