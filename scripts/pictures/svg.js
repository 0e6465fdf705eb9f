/** A cell in px. */
const CELL = { width: 8.4, height: 18 };
const EDGE = 16;
const BAR = 30;
/** Told apart by people who see red and green alike, too: orange for red, blue for green's neighbour. */
const PAPER = '#16181d';
const INK = '#e6e6e6';
const FAINT = '#8b93a1';
const COLOURS = [
  ['#16181d', '#ff8c5a', '#5fd38d', '#f2cc60', '#6cb6ff', '#d2a8ff', '#56d4dd', '#e6e6e6'],
  ['#6e7681', '#ffa07a', '#7ee2a8', '#ffe08a', '#91cbff', '#e2c5ff', '#8be9f0', '#ffffff'],
].flat();

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** What is in sight on an xterm-headless terminal, as an SVG; `title` is what it shows, in words. */
export function svgOf(terminal, title) {
  const { active } = terminal.buffer;
  const lines = Array.from({ length: terminal.rows }, (_, row) => runsOf(active, active.viewportY + row));
  while (lines.length > 1 && lines.at(-1)?.length === 0) lines.pop();
  const width = Math.ceil(terminal.cols * CELL.width + 2 * EDGE);
  const height = BAR + lines.length * CELL.height + EDGE;
  const texts = lines.flatMap((runs, row) => runs.map((run) => textOf(run, row)));
  const lights = [0, 1, 2].map(
    (at) => `<circle cx="${EDGE + at * 18}" cy="${BAR / 2}" r="5" fill="#3a3f4a"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${PAPER}"/>`,
    ...lights,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">`,
    ...texts,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** The cells of a line, those of one look together. A gap ends a run, since SVG takes several blanks for one. */
function runsOf(buffer, row) {
  const line = buffer.getLine(row);
  const runs = [];
  for (let column = 0; line && column < line.length; column++) {
    const cell = line.getCell(column);
    const text = cell?.getChars().trim();
    if (!cell || !text) continue;
    const look = lookOf(cell);
    const last = runs.at(-1);
    // A wide character is a run of its own: fonts disagree on how wide it is.
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
  const colour = cell.isFgPalette() ? COLOURS[cell.getFgColor()] : undefined;
  const fill = colour ?? (cell.isDim() ? FAINT : INK);
  return `fill="${fill}"${cell.isBold() ? ' font-weight="bold"' : ''}`;
}

function textOf({ text, look, start, end }, row) {
  const x = (EDGE + start * CELL.width).toFixed(1);
  const y = BAR + (row + 0.75) * CELL.height;
  const length = ((end - start) * CELL.width).toFixed(1);
  return `<text x="${x}" y="${y}" ${look} textLength="${length}" lengthAdjust="spacingAndGlyphs">${escaped(text)}</text>`;
}
