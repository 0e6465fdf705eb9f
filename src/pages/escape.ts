import { safeLine } from '../kernel/text/safe-text.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes untrusted text for a page or an attribute, so that it contains no markup and no characters that hide or reorder text. */
export function htmlText(text: string): string {
  return safeLine(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
