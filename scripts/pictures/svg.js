/** The size of a cell in px. */
const CELL = { width: 8.4, height: 18 };
const EDGE = 16;
const BAR = 30;
const BACKGROUND = '#16181d';
const INK = '#e6e6e6';
const FAINT = '#8b93a1';
/** Colors that people with red-green color blindness can distinguish: red is orange. */
const COLORS = [
  ['#16181d', '#ff8c5a', '#5fd38d', '#f2cc60', '#6cb6ff', '#d2a8ff', '#56d4dd', '#e6e6e6'],
  ['#6e7681', '#ffa07a', '#7ee2a8', '#ffe08a', '#91cbff', '#e2c5ff', '#8be9f0', '#ffffff'],
].flat();

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Draws the visible screen of an xterm-headless terminal as an SVG; `title` describes it. */
export function svgOf(terminal, title) {
  const lines = screenOf(terminal);
  while (lines.length > 1 && lines.at(-1) === '') lines.pop();
  const rows = lines.flatMap((line, row) =>
    line === '' ? [] : `<g transform="${placeOf(row)}">${line}</g>`,
  );
  return windowOf({ columns: terminal.cols, rows: lines.length, title }, rows);
}

/** Draws each line of the visible screen, at the origin. */
export function screenOf(terminal) {
  return linesOf(terminal).map((line) => runsOf(line).map(drawn).join(''));
}

/** Returns the text on the visible screen. */
export function textOf(terminal) {
  return linesOf(terminal)
    .map((line) => line.translateToString(true))
    .join('\n');
}

function linesOf(terminal) {
  const { active } = terminal.buffer;
  return Array.from({ length: terminal.rows }, (_, row) => active.getLine(active.viewportY + row));
}

/** Returns the position of a line that was drawn at the origin. */
export function placeOf(row) {
  return `translate(${EDGE} ${BAR + row * CELL.height})`;
}

/** Draws the window of a terminal around its content. */
export function windowOf({ columns, rows, title }, content) {
  const width = widthOf(columns);
  const height = BAR + rows * CELL.height + EDGE;
  const lights = [0, 1, 2].map(
    (at) => `<circle cx="${EDGE + at * 18}" cy="${BAR / 2}" r="5" fill="#3a3f4a"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${BACKGROUND}"/>`,
    ...lights,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">`,
    ...content,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

export function widthOf(columns) {
  return Math.ceil(columns * CELL.width + 2 * EDGE);
}

/** Groups the cells of a line by style. A gap ends a run, because SVG collapses spaces. */
function runsOf(line) {
  const runs = [];
  for (let column = 0; column < line.length; column++) {
    const cell = line.getCell(column);
    const text = cell.getChars().trim();
    if (text === '') continue;
    const look = lookOf(cell);
    const last = runs.at(-1);
    // A wide character is a separate run, because its width depends on the font.
    const isNarrow = cell.getWidth() === 1;
    const gap = column - (last?.end ?? -2);
    if (last && isNarrow && last.isNarrow && last.look === look && gap <= 1) {
      last.text += ' '.repeat(gap) + text;
      last.end = column + 1;
    } else runs.push({ text, look, isNarrow, start: column, end: column + cell.getWidth() });
  }
  return runs;
}

function lookOf(cell) {
  const color = cell.isFgPalette() ? COLORS[cell.getFgColor()] : undefined;
  const fill = color ?? (cell.isDim() ? FAINT : INK);
  return `fill="${fill}"${cell.isBold() ? ' font-weight="bold"' : ''}`;
}

function drawn({ text, look, start, end }) {
  const x = (start * CELL.width).toFixed(1);
  const y = 0.75 * CELL.height;
  const length = ((end - start) * CELL.width).toFixed(1);
  return `<text x="${x}" y="${y}" ${look} textLength="${length}" lengthAdjust="spacingAndGlyphs">${escaped(text)}</text>`;
}
