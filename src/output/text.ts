import stringWidth from 'string-width';

export { safeBlock, safeJson, safeLine } from '../kernel/text/safe-text.ts';

/** Matches combining marks, except those that change a character to an emoji. */
const marks = () => /(?![\ufe0f\u20e3])[\p{Mn}\p{Me}]/gu;

/** Returns the width of the text on a terminal, in columns. */
export function widthOf(text: string): number {
  return stringWidth(text.replace(marks(), ''));
}

/** Pads the text with spaces to `width` columns. */
export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** Aligns rows of cells as lines. Empty columns are omitted. */
export function inColumns(rows: readonly (readonly string[])[]): string[] {
  const columns = largest(rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) =>
    largest(rows.map((row) => widthOf(row[at] ?? ''))),
  );
  return rows.map((row) => {
    const cells = widths.flatMap((width, at) => (width > 0 ? [padded(row[at] ?? '', width)] : []));
    return cells.join('  ').trimEnd();
  });
}

/** Returns the largest number, or 0. Math.max accepts only some ten thousand arguments. */
export function largest(numbers: readonly number[]): number {
  return numbers.reduce((most, one) => Math.max(most, one), 0);
}

/** Created on first use, because it is the most expensive part of start-up. */
let segmenter: Intl.Segmenter | undefined;

/** Splits text into characters as readers see them. */
function segmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

/** Cuts the text to at most `width` columns, with an ellipsis. */
export function truncate(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let result = '';
  let used = 0;
  for (const { segment } of segmentsOf(text)) {
    const size = widthOf(segment);
    if (used + size > width - 1) break;
    result += segment;
    used += size;
  }
  return `${result}…`;
}

/** Pieces that are kept on one line, with the spaces after them. A command in backquotes is one piece, so that it can be copied. */
const PIECES = /(\S*?`[^`\n]*`\S*|\S+)(\s*)/g;

/** Wraps each line of a text at `width` columns. The new lines are indented like it. */
export function paragraph(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => {
      const indent = /^ */.exec(line)?.[0] ?? '';
      const parts = wrapped(line.slice(indent.length), width - indent.length);
      return parts.map((part) => `${indent}${part}`.trimEnd());
    })
    .join('\n');
}

/**
 * Wraps a line at `width` columns, between words. A longer word, such as a path, stays whole so that it can be copied; the terminal
 * continues it on the next line. Only languages without spaces are wrapped between characters.
 */
export function wrapped(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const { piece, gap } of piecesOf(text, width)) {
    const longer = `${line}${line === '' ? '' : gap}${piece}`;
    if (line === '' || widthOf(longer) <= width) line = longer;
    else {
      lines.push(line);
      line = piece;
    }
  }
  return [...lines, line];
}

/** Yields what may begin a line, with the spaces before it. */
function* piecesOf(text: string, width: number): Generator<{ piece: string; gap: string }> {
  let gap = '';
  for (const [, word = '', after = ''] of text.matchAll(PIECES)) {
    for (const piece of widthOf(word) > width ? betweenWideCharacters(word) : [word]) {
      yield { piece, gap };
      gap = '';
    }
    gap = after;
  }
}

/** Splits a word next to each wide character, as in Chinese and Japanese. */
function betweenWideCharacters(word: string): string[] {
  const pieces: string[] = [];
  let isOpen = false;
  for (const { segment } of segmentsOf(word)) {
    const isWide = widthOf(segment) > 1;
    if (isOpen && !isWide) pieces[pieces.length - 1] += segment;
    else pieces.push(segment);
    isOpen = !isWide;
  }
  return pieces;
}
