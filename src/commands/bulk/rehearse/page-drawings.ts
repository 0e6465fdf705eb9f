import { counted } from '../../../kernel/duration.ts';
import { htmlText } from '../../../output/html.ts';
import { svgDrawing } from '../../../output/page.ts';
import { truncate } from '../../../output/text.ts';
import type { StandInPage } from '../../../rehearsal/rehearse.ts';

const WIDTH = 560;
const HEIGHT = 280;
const LEFT = 46;
const RIGHT = WIDTH - 14;
const TOP = 16;
const BOTTOM = HEIGHT - 40;
const MAX_TICKS = 7;
const LABEL_WIDTH = 120;

/** Draws the completed share of the envelopes by day, marking the days of 50% and 90%. */
export function completionCurve(
  completionDays: readonly number[],
  forecast: { envelopes: number; days: number; day50: number | null; day90: number | null },
): string {
  const { envelopes, days, day50, day90 } = forecast;
  const x = (day: number) => round(LEFT + (Math.min(day, days) / days) * (RIGHT - LEFT));
  const y = (share: number) => round(BOTTOM - share * (BOTTOM - TOP));
  const steps = completionDays.map((day, index) => [x(day), y((index + 1) / envelopes)] as const);
  const path = pathOf(steps, { from: x(0), to: x(days), base: BOTTOM });
  const shares = [0, 0.5, 0.9, 1].map(
    (share) =>
      `<line class="grid" x1="${LEFT}" x2="${RIGHT}" y1="${y(share)}" y2="${y(share)}"/><text class="axis" x="${LEFT - 8}" y="${y(share) + 5}" text-anchor="end">${share * 100}%</text>`,
  );
  const ticks = ticksOf(days).map((day) => {
    const anchor = day === days ? 'end' : day === 0 ? 'start' : 'middle';
    const text = day === 0 ? 'sent' : day === days ? counted(days, 'day') : `${day}`;
    return `<text class="axis" x="${x(day)}" y="${BOTTOM + 22}" text-anchor="${anchor}">${text}</text>`;
  });
  const isClose = day50 !== null && day90 !== null && x(day90) - x(day50) < LABEL_WIDTH;
  const marks = [
    ...(day50 === null ? [] : [guide(x(day50), y(0.5)), mark(0.5, day50, [x(day50), y(0.5)])]),
    // This line would cross the label of the other one.
    ...(day90 === null || isClose ? [] : [guide(x(day90), y(0.9))]),
    ...(day90 === null ? [] : [mark(0.9, day90, [x(day90), y(0.9)])]),
  ];
  const last = completionDays.length / Math.max(1, envelopes);
  const spoken = [
    `Completed after ${counted(days, 'day')}: ${Math.round(last * 100)}%`,
    ...(day50 === null ? [] : [`50% on day ${day50}`]),
    ...(day90 === null ? [] : [`90% on day ${day90}`]),
  ];
  const lines = [`<path class="area" d="${path.area}"/>`, `<path class="line" d="${path.line}"/>`];
  return svgDrawing(spoken, { width: WIDTH, height: HEIGHT }, [...shares, ...ticks, ...lines, ...marks]);
}

/** Returns the steps as a line, with one step for each tenth of a point. Finer steps can't be seen. */
function pathOf(
  steps: readonly (readonly [number, number])[],
  { from, to, base }: { from: number; to: number; base: number },
): { line: string; area: string } {
  const highest = new Map<number, number>();
  for (const [at, height] of steps) highest.set(at, height);
  const line = [`M${from} ${base}`, ...[...highest].map(([at, height]) => `H${at}V${height}`), `H${to}`].join(
    '',
  );
  return { line, area: `${line}V${base}Z` };
}

function guide(x: number, y: number): string {
  return `<line class="mark" x1="${x}" x2="${x}" y1="${y}" y2="${BOTTOM}"/>`;
}

function mark(share: number, day: number, [x, y]: readonly [number, number]): string {
  const isRight = x > WIDTH * 0.7;
  const place = isRight ? `x="${x - 8}" text-anchor="end"` : `x="${x + 9}"`;
  return `<circle class="dot" cx="${x}" cy="${y}" r="5"/><text ${place} y="${y + 20}">${share * 100}% on day ${day}</text>`;
}

function ticksOf(days: number): number[] {
  const step = [1, 2, 5, 10, 15, 30, 60, 90].find((one) => days / one <= MAX_TICKS) ?? days;
  const ticks = Array.from({ length: Math.floor(days / step) + 1 }, (_, index) => index * step);
  // The last label contains words, which need more room.
  return [...ticks.filter((day) => day <= days - step * 0.75), days];
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** An A4 page, in points. */
const SHEET = { width: 595, height: 842 } as const;
const MAX_FIELDS = 200;
/** The width of a letter, in points. */
const LETTER = 6;

/** Draws a page of a template's stand-in. */
export function sheetDrawing({ name, page, pageCount, fields }: StandInPage): string {
  const middle = SHEET.width / 2;
  const parts = [
    `<text x="${middle}" y="92" text-anchor="middle" class="name">${cut(name, 420, 11)}</text>`,
    `<rect class="mark-box" x="56" y="130" width="483" height="54" rx="4"/>`,
    `<text class="mark-text" x="${middle}" y="167" text-anchor="middle">STAND-IN</text>`,
    ...fields.slice(0, MAX_FIELDS).map(fieldOf),
    `<text class="soft" x="${middle}" y="815" text-anchor="middle">Page ${page} of ${pageCount}</text>`,
  ];
  return svgDrawing([`Page ${page} of ${name}`, ...fields.map(({ label }) => label)], SHEET, parts);
}

function fieldOf(field: StandInPage['fields'][number]): string {
  const { label, type, role, required, x, y, width, height } = field;
  const box = `<rect class="field" x="${x}" y="${y}" width="${width}" height="${height}" rx="2"/>`;
  if (height < 14) return box;
  const star = required ? '<tspan class="must"> *</tspan>' : '';
  const name = `<text x="${x}" y="${y - 5}">${cut(label || type, 190, LETTER)}${star}</text>`;
  const inside = width < 60 ? '' : `${type.toLowerCase().replaceAll('_', ' ')}, ${role}`;
  return `${box}${name}<text class="soft" x="${x + 6}" y="${y + height / 2 + 4}">${cut(inside, width - 12, LETTER)}</text>`;
}

function cut(text: string, width: number, letter: number): string {
  return htmlText(truncate(text, Math.floor(width / letter)));
}
