import { format } from 'numfmt';

/** How the number in a cell is shown. With a code, as that format shows it. */
export type NumberKind = 'number' | 'date' | 'time' | 'datetime' | 'elapsed' | { code: string };

/** The built-in formats that show dates and times (ECMA-376 part 1, 18.8.30, with those of East Asian editions). */
const BUILT_IN_TIMES: readonly (readonly [number, number, NumberKind])[] = [
  [14, 17, 'date'],
  [18, 21, 'time'],
  [22, 22, 'datetime'],
  [27, 31, 'date'],
  [32, 35, 'time'],
  [36, 36, 'date'],
  [45, 45, 'time'],
  [46, 46, 'elapsed'],
  [47, 47, 'time'],
  [50, 54, 'date'],
  [55, 56, 'time'],
  [57, 58, 'date'],
];
/** The other built-in formats. */
const BUILT_IN_CODES: ReadonlyMap<number, string> = new Map([
  [1, '0'],
  [2, '0.00'],
  [3, '#,##0'],
  [4, '#,##0.00'],
  [9, '0%'],
  [10, '0.00%'],
  [12, '# ?/?'],
  [13, '# ??/??'],
  [37, '#,##0;(#,##0)'],
  [38, '#,##0;(#,##0)'],
  [39, '#,##0.00;(#,##0.00)'],
  [40, '#,##0.00;(#,##0.00)'],
]);

export function builtInKind(id: number): NumberKind {
  const time = BUILT_IN_TIMES.find(([from, to]) => id >= from && id <= to)?.[2];
  return time ?? kindOfFormat(BUILT_IN_CODES.get(id) ?? '');
}

/** A format that shows what is in the cell. A scientific one hides digits, which nobody wants in a text. */
const PLAIN = /^(?:general|@|[^"\\]*0E[+-]0.*)?$/i;

/** Returns the kind of a format by its code, such as `dd.mm.yyyy`, `[h]:mm`, or `00000`, which shows leading zeros. */
export function kindOfFormat(code: string): NumberKind {
  const [section = ''] = code.replaceAll(/"[^"]*"|\\.|[_*]./g, '').split(';');
  if (/\[(?:h+|m+|s+)\]/i.test(section)) return 'elapsed';
  const letters = section.replaceAll(/\[[^\]]*\]|general|am\/pm|a\/p/gi, '').toLowerCase();
  const hasTime = /[hs]/.test(letters);
  const hasDate = /[yd]/.test(letters) || (letters.includes('m') && !hasTime);
  if (hasDate) return hasTime ? 'datetime' : 'date';
  if (hasTime) return 'time';
  return PLAIN.test(code) ? 'number' : { code };
}

/** Returns a value as a format shows it, or undefined if the format is not valid or shows nothing. */
export function textInFormat(code: string, value: number | string): string | undefined {
  try {
    return format(code, value).trim() || undefined;
  } catch {
    return undefined;
  }
}
