// Turns the text of a PDF page into paragraphs for small screens and screen readers.

/** Font sizes within the first ratio belong to the same paragraph. Text that is larger than usual by the second is a heading. */
const SAME_SIZE = 1.1;
const HEADING = 1.1;
/** Distances in font sizes: between the lines of a paragraph, for indents, and between columns. */
const LINE_GAP = 1.8;
const INDENT = 2;
const HANGING_INDENT = 4;
const COLUMN_GAP = 3;
/** With this many lines, adjacent paragraphs are columns of text, not labels of a form. */
const COLUMN_LINES = 3;

/** Returns the paragraphs of a PDF.js page in reading order, with positions in points from the top left corner. */
export async function paragraphsOf(page) {
  const viewport = page.getViewport({ scale: 1 });
  const { items } = await page.getTextContent();
  const paragraphs = [];
  for (const line of linesOf(items, viewport)) {
    const last = paragraphs.at(-1);
    if (last && continues(last, line)) {
      last.text += ` ${line.text}`;
      last.bottom = line.bottom;
      last.left = line.left;
      last.right = Math.max(last.right, line.right);
      last.lines++;
    } else paragraphs.push({ ...line, top: line.bottom - line.size, lines: 1 });
  }
  const usual = usualSize(paragraphs);
  const shown = paragraphs
    .filter(({ text }) => /[\p{L}\p{N}]/u.test(text))
    .map((one) => ({ ...one, isHeading: one.size > usual * HEADING && one.text.length < 80 }));
  // The order in the file is right for columns. In forms, it often differs from the reading order.
  return hasColumns(shown) ? shown : shown.sort((a, b) => rowOf(a) - rowOf(b) || a.left - b.left);
}

function continues(paragraph, line) {
  const gap = line.bottom - paragraph.bottom;
  const ratio = line.size / paragraph.size;
  const indent = line.left - paragraph.left;
  const isAligned = Math.abs(indent) < INDENT * line.size;
  const isHanging = paragraph.lines === 1 && indent > 0 && indent < HANGING_INDENT * line.size;
  return (
    gap > line.size / 2 &&
    gap < LINE_GAP * line.size &&
    Math.max(ratio, 1 / ratio) < SAME_SIZE &&
    (isAligned || isHanging)
  );
}

function hasColumns(paragraphs) {
  const long = paragraphs.filter(({ lines }) => lines >= COLUMN_LINES);
  return long.some((a) => long.some((b) => a.right < b.left && a.top < b.bottom && b.top < a.bottom));
}

/** Returns the row of a text. Texts whose tops differ by only a few points are in the same row. */
function rowOf({ top }) {
  return Math.round(top / 4);
}

/** Joins the pieces of a line, but not across columns. Rotated text, such as a watermark, is left out. */
function linesOf(items, viewport) {
  const lines = [];
  for (const { str, transform, width } of items) {
    if (str.trim() === '' || Math.abs(transform[1]) > 0.01) continue;
    const [left, bottom] = viewport.convertToViewportPoint(transform[4], transform[5]);
    const size = Math.hypot(transform[2], transform[3]);
    const last = lines.at(-1);
    const gap = last ? left - last.right : 0;
    if (last && Math.abs(last.bottom - bottom) < size / 2 && gap > -size && gap < COLUMN_GAP * size) {
      last.text += `${gap > size * 0.15 && !last.text.endsWith(' ') ? ' ' : ''}${str}`;
      last.right = left + width;
    } else lines.push({ text: str, left, right: left + width, bottom, size });
  }
  return lines;
}

/** Returns the font size of most of the text. */
function usualSize(paragraphs) {
  const lengths = new Map();
  for (const { size, text } of paragraphs) {
    const rounded = Math.round(size);
    lengths.set(rounded, (lengths.get(rounded) ?? 0) + text.length);
  }
  return [...lengths].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 0;
}

/** Returns the index of the paragraph that a field follows: the nearest one above it, in its column if there is one. */
export function paragraphBefore(paragraphs, field) {
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  for (const [index, { left, right, bottom }] of paragraphs.entries()) {
    const above = field.y + field.height - bottom;
    if (above < 0) continue;
    const isInColumn = left < field.x + field.width && right > field.x;
    const distance = above + (isInColumn ? 0 : 40);
    if (distance <= least) [best, least] = [index, distance];
  }
  return best;
}
