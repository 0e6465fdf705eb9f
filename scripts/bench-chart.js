/*
 * Draws a small chart for each kind of work: the cost of one item at 1, 10, and 100 times the number. All charts have the same
 * logarithmic axes, so that slopes can be compared. The SVG contains only shapes and text, and follows the reader's light or
 * dark theme.
 */
const COLUMNS = 4;
const PANEL = { width: 250, height: 210, left: 66, right: 58, top: 46, bottom: 50 };
const STYLE = `
    text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #57606a }
    .title { font-size: 14px; font-weight: 600; fill: #1f2328 }
    .value { font-weight: 600; fill: #0550ae }
    .grid { stroke: #d0d7de; stroke-width: 1 }
    .same { stroke: #8c959f; stroke-width: 1; stroke-dasharray: 4 3 }
    .line { fill: none; stroke: #0969da; stroke-width: 2.5; stroke-linejoin: round }
    .dot { fill: #0969da }
    @media (prefers-color-scheme: dark) {
      text { fill: #9198a1 }
      .title { fill: #f0f6fc }
      .value { fill: #79c0ff }
      .grid { stroke: #30363d }
      .same { stroke: #6e7681 }
      .line { stroke: #58a6ff }
      .dot { fill: #58a6ff }
    }`;

/** @param {import('../test/bench/measure.js').Growth[]} growths */
export function growthChart(growths) {
  const lines = growths.map(({ costs, ...rest }) => ({ ...rest, costs, ratios: ratiosOf(costs) }));
  const all = lines.flatMap(({ ratios }) => ratios.map(({ y }) => Math.log10(y)));
  const scale = { low: Math.floor(Math.min(...all, -1)), high: Math.ceil(Math.max(...all, 1)) };
  const width = COLUMNS * PANEL.width;
  const height = Math.ceil(lines.length / COLUMNS) * PANEL.height;
  const panels = lines.map((line, at) => {
    const place = `translate(${(at % COLUMNS) * PANEL.width} ${Math.floor(at / COLUMNS) * PANEL.height})`;
    return `  <g transform="${place}">\n${panel(line, scale, at % COLUMNS === 0)}\n  </g>`;
  });
  const told = lines.map(({ what, ratios }) => `${what} ${shown(ratios.at(-1).y)}`).join(', ');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
  <title>Cost of one item at 100 times the number, compared with the smallest: ${told}</title>
  <style>${STYLE}
  </style>
${panels.join('\n')}
</svg>
`;
}

function ratiosOf(costs) {
  return costs.map(({ items, ms }) => ({ x: items / costs[0].items, y: ms / costs[0].ms }));
}

function panel({ what, unit, costs, ratios }, { low, high }, isFirst) {
  const { width, height, left, right, top, bottom } = PANEL;
  const span = Math.log10(Math.max(100, ratios.at(-1).x));
  const x = (value) => round(left + (Math.log10(value) / span) * (width - left - right));
  const y = (value) => round(top + ((high - Math.log10(value)) / (high - low)) * (height - top - bottom));
  const counts = `${inDigits(costs[0].items)} to ${inDigits(costs.at(-1).items)} ${unit}`;
  const parts = [
    `<text class="title" x="${left}" y="16">${what}</text>`,
    `<text x="${left}" y="32">${counts}</text>`,
  ];
  for (let power = low; power <= high; power++) {
    const at = y(10 ** power);
    const kind = power === 0 ? 'same' : 'grid';
    parts.push(`<line class="${kind}" x1="${left}" x2="${width - right}" y1="${at}" y2="${at}"/>`);
    parts.push(`<text x="${left - 6}" y="${at + 4}" text-anchor="end">${shown(10 ** power)}</text>`);
  }
  for (const { x: value } of ratios)
    parts.push(
      `<text x="${x(value)}" y="${height - bottom + 16}" text-anchor="middle">${shown(value)}</text>`,
    );
  if (isFirst) {
    const middle = round((top + height - bottom) / 2);
    const axis = `translate(12 ${middle}) rotate(-90)`;
    parts.push(`<text transform="${axis}" text-anchor="middle">cost per item</text>`);
    parts.push(`<text x="${x(10)}" y="${height - bottom + 34}" text-anchor="middle">as many</text>`);
  }
  const points = ratios.map((one) => `${x(one.x)},${y(one.y)}`);
  parts.push(`<polyline class="line" points="${points.join(' ')}"/>`);
  for (const one of ratios) parts.push(`<circle class="dot" cx="${x(one.x)}" cy="${y(one.y)}" r="3.5"/>`);
  const last = ratios.at(-1);
  parts.push(`<text class="value" x="${x(last.x) + 9}" y="${y(last.y) + 4}">${shown(last.y)}</text>`);
  return parts.map((part) => `    ${part}`).join('\n');
}

function round(number) {
  return Math.round(number * 10) / 10;
}

/** Formats a factor: 100 ×, 1.2 ×, 0.05 ×. */
function shown(ratio) {
  return `${Number(ratio.toPrecision(ratio < 0.1 ? 1 : 2))} ×`;
}

function inDigits(count) {
  return count.toLocaleString('en-US');
}
