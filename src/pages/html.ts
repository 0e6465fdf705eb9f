import { safeBlock } from '../kernel/text/safe-text.ts';

/** Markup for a page. Only `html`, `verbatim`, and files of the package create it, so that all other text is escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Content = Html | string | number | boolean | null | undefined | readonly Content[];

/**
 * The template of all pages. Text is untrusted: it is escaped, and characters that hide or reorder text become visible. Markup is
 * inserted unchanged, lists without separators, and null, undefined, and booleans as nothing.
 */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Html {
  return new Html(parts.map((part, index) => part + markup(values[index])).join(''));
}

/** Returns untrusted text for the value of a form's field, which a browser posts as it is: escaped, but otherwise unchanged. */
export function verbatim(text: string): Html {
  return new Html(escaped(text));
}

function markup(content: Content): string {
  if (content === null || content === undefined || typeof content === 'boolean') return '';
  if (content instanceof Html) return content.text;
  if (typeof content === 'object') return content.map(markup).join('');
  return escaped(safeBlock(String(content)));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
