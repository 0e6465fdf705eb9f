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

/** Returns the largest number. Math.max accepts only some ten thousand arguments. */
function largest(numbers: readonly number[]): number {
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

/** Pieces that are kept on one line. A command in backquotes is one piece, so that it can be copied. */
const PIECES = /`[^`\n]*`\S*|\S+/g;

/** Wraps sentences at `width` columns. Longer words are not split, and line breaks are kept. */
export function paragraph(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => (widthOf(line) <= width ? line : reflow(line, width)))
    .join('\n');
}

function reflow(line: string, width: number): string {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const lines: string[] = [];
  for (const piece of line.match(PIECES) ?? []) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(`${last} ${piece}`) <= width)
      lines[lines.length - 1] = `${last} ${piece}`;
    else lines.push(`${indent}${piece}`);
  }
  return lines.join('\n');
}

/** Wraps text at `width` columns, between words if possible. */
export function wrapped(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(/(?<= )/)) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && widthOf(line) + widthOf(word.trimEnd()) > width) lines.push('');
    for (const { segment } of widthOf(word) > width ? segmentsOf(word) : [{ segment: word }]) {
      const last = lines.at(-1) ?? '';
      if (widthOf(last) + widthOf(segment.trimEnd()) > width) lines.push(segment);
      else lines[lines.length - 1] = `${last}${segment}`;
    }
  }
  return lines.map((line) => line.trimEnd());
}
