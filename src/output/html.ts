import { safeLine } from './text.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text of strangers for a page or an attribute of it: no markup, and nothing that hides or turns what is read. */
export function htmlText(text: string): string {
  return safeLine(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
