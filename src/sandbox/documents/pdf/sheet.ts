import type { Face } from '../text/faces.ts';
import { BOX, type Glyph, type GlyphRun, type ShapedLine } from '../text/shape.ts';
import { glyphWidth, hex, type UsedFonts, utf16 } from './fonts.ts';
import type { PageView } from './view.ts';

/** Red, green, blue from 0 to 1. */
export type Color = readonly [number, number, number];

interface LineStyle {
  color: Color;
  width: number;
  dash?: readonly number[];
}

interface BoxStyle extends Partial<Omit<LineStyle, 'color'>> {
  fill?: Color;
  stroke?: Color;
}

/** The slant of a face that replaces handwriting: about 11 degrees. */
const SLANT = 0.2;

type Point = readonly [number, number];

interface TextPlace {
  x: number;
  y: number;
  size: number;
  color: Color;
  slanted: boolean;
  tracking: number;
}

export type Sheet = ReturnType<typeof createSheet>;

/**
 * Creates the drawing on a page, as PDF content. All positions are in points from the page's top left corner. Text is positioned by its
 * baseline.
 */
export function createSheet(view: PageView, fonts: UsedFonts) {
  const operators: string[] = [];
  const up = (y: number): string => number(view.height - y);

  const run = (glyphs: GlyphRun, x: number, y: number, size: number, slant = 0, tracking = 0): void => {
    const font = `/${fonts.use(glyphs)} ${number(size)} Tf`;
    const matrix = `1 0 ${number(slant)} 1 ${number(x)} ${up(y)} Tm`;
    operators.push(`BT ${font} ${matrix} ${showGlyphs(glyphs, fonts, size, tracking)} ET`);
  };
  const fill = (color: Color): string => `${color.map(number).join(' ')} rg`;
  const pen = ({ color, width, dash = [] }: LineStyle): string =>
    `${color.map(number).join(' ')} RG ${number(width)} w [${dash.map(number).join(' ')}] 0 d`;

  const sheet = {
    view,
    text(line: ShapedLine, { x, y, size, color, slanted, tracking }: TextPlace): void {
      let position = x;
      for (const piece of line.pieces) {
        operators.push(fill(color));
        if (piece.kind === 'glyphs') {
          run(piece.run, position, y, size, slanted ? SLANT : 0, tracking);
          position +=
            piece.width * size + piece.run.glyphs.filter(({ text }) => text !== '').length * tracking;
          continue;
        }
        const margin = BOX.margin * size;
        const frame = { stroke: color, width: 0.05 * size };
        sheet.box(position + margin, y - 0.72 * size, piece.width * size - 2 * margin, 0.92 * size, frame);
        operators.push(fill(color));
        run(piece.label, position + margin + BOX.padding * size, y - 0.04 * size, BOX.label * size);
        position += piece.width * size;
      }
    },
    line(from: Point, to: Point, style: LineStyle): void {
      sheet.stroke([from, to], style);
    },
    box(x: number, y: number, width: number, height: number, style: BoxStyle): void {
      const rectangle = `${number(x)} ${up(y + height)} ${number(width)} ${number(height)} re`;
      if (style.fill) operators.push(`${fill(style.fill)} ${rectangle} f`);
      if (style.stroke)
        operators.push(`${pen({ width: 0.5, ...style, color: style.stroke })} ${rectangle} S`);
    },
    /** Draws a polyline with round ends. */
    stroke(points: readonly Point[], style: LineStyle): void {
      const path = points.map(([x, y], index) => `${number(x)} ${up(y)} ${index === 0 ? 'm' : 'l'}`);
      operators.push(`${pen(style)} ${path.length > 2 ? '1 J 1 j' : '0 J'} ${path.join(' ')} S`);
    },
    /** Draws a smooth line with round ends that stays within the convex hull of its points, or a dot for a single point. */
    curve(points: readonly Point[], style: LineStyle): void {
      const path = curvePath(points).map((step) =>
        step.map((part) => (typeof part === 'string' ? part : `${number(part[0])} ${up(part[1])}`)).join(' '),
      );
      operators.push(`${pen(style)} 1 J 1 j ${path.join(' ')} S`);
    },
    content: () => operators.join('\n'),
  };
  return sheet;
}

/** Returns a path of curves from the middle of each segment to the middle of the next, bent towards the point between them. */
function curvePath(points: readonly Point[]): (Point | string)[][] {
  const [start] = points;
  if (start === undefined) return [];
  const path: (Point | string)[][] = [[start, 'm']];
  let from = start;
  for (const [index, point] of points.slice(1, -1).entries()) {
    const to = between(point, points[index + 2] ?? point, 1 / 2);
    path.push([between(from, point, 2 / 3), between(to, point, 2 / 3), to, 'c']);
    from = to;
  }
  return [...path, [points.at(-1) ?? start, 'l']];
}

function between(from: Point, to: Point, part: number): Point {
  return [from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part];
}

/** Returns the operators that show a run. Offsets from shaping become position adjustments and text rises. */
function showGlyphs({ face, glyphs }: GlyphRun, fonts: UsedFonts, size: number, tracking: number): string {
  const parts: string[] = [];
  let array = '';
  let rise = 0;
  let pending = 0;
  const flush = (...next: string[]): void => {
    if (array !== '') parts.push(`[${array}] TJ`);
    array = '';
    parts.push(...next);
  };
  const show = (glyph: Glyph, spacing: number): void => {
    if (glyph.dy !== rise) flush(`${number(glyph.dy * size)} Ts`);
    rise = glyph.dy;
    const before = Math.round(pending + glyph.dx * 1000);
    array += `${before === 0 ? '' : `${-before} `}<${hex(glyph.id)}>`;
    pending += (glyph.advance + spacing) * 1000 - before - glyphWidth(face, glyph.id);
  };
  for (const cluster of clustersOf(glyphs)) {
    const actual = actualText(cluster, face, fonts);
    if (actual !== undefined) flush(`/Span <</ActualText <FEFF${utf16(actual)}>>> BDC`);
    for (const glyph of cluster) show(glyph, glyph === cluster.at(-1) ? tracking / size : 0);
    if (actual !== undefined) flush('EMC');
  }
  flush();
  if (rise !== 0) parts.push('0 Ts');
  return parts.join(' ');
}

/** Returns the characters of a cluster if they can't be recovered from its glyphs alone (ISO 32000-1, 14.9.4). */
function actualText([first, ...more]: readonly Glyph[], face: Face, fonts: UsedFonts): string | undefined {
  return first && more.length === 0 && fonts.isReversible(face, first) ? undefined : first?.text;
}

/** Groups the glyphs that represent the same characters. */
function clustersOf(glyphs: readonly Glyph[]): Glyph[][] {
  const clusters: Glyph[][] = [];
  for (const glyph of glyphs) {
    const last = clusters.at(-1);
    if (last && glyph.text === '') last.push(glyph);
    else clusters.push([glyph]);
  }
  return clusters;
}

/** Formats a number for PDF: no exponent, at most three decimal places. */
function number(value: number): string {
  return (Math.round(value * 1000) / 1000).toString();
}
