import type { Run } from '../text/fonts.ts';

/** Red, green, blue from 0 to 1. */
export type Color = readonly [number, number, number];

interface LineStyle {
  color: Color;
  width: number;
}

interface BoxStyle {
  fill?: Color;
  stroke?: Color;
  width?: number;
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
  /** Extra space after each character, in points. */
  tracking: number;
}

export type Sheet = ReturnType<typeof createSheet>;

/**
 * Creates the drawing on a page, as PDF content. All positions are in points from the page's top left corner. Text is positioned by its
 * baseline.
 */
export function createSheet(size: { width: number; height: number }) {
  const operators: string[] = [];
  const up = (y: number): string => number(size.height - y);
  const fill = (color: Color): string => `${color.map(number).join(' ')} rg`;
  const pen = ({ color, width }: LineStyle): string => `${color.map(number).join(' ')} RG ${number(width)} w`;

  const sheet = {
    size,
    text(runs: readonly Run[], place: TextPlace): void {
      const { y, color, slanted, tracking } = place;
      let { x } = place;
      operators.push(fill(color));
      for (const { resource, glyphs, width } of runs) {
        const font = `/${resource} ${number(place.size)} Tf ${number(tracking)} Tc`;
        const matrix = `1 0 ${slanted ? SLANT : 0} 1 ${number(x)} ${up(y)} Tm`;
        operators.push(`BT ${font} ${matrix} <${glyphs}> Tj ET`);
        x += width * place.size + (glyphs.length / 4) * tracking;
      }
    },
    line(from: Point, to: Point, style: LineStyle): void {
      sheet.stroke([from, to], style);
    },
    box(x: number, y: number, width: number, height: number, style: BoxStyle): void {
      const rectangle = `${number(x)} ${up(y + height)} ${number(width)} ${number(height)} re`;
      if (style.fill) operators.push(`${fill(style.fill)} ${rectangle} f`);
      if (style.stroke)
        operators.push(`${pen({ color: style.stroke, width: style.width ?? 0.5 })} ${rectangle} S`);
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

/** Formats a number for PDF: no exponent, at most three decimal places. */
function number(value: number): string {
  return (Math.round(value * 1000) / 1000).toString();
}
