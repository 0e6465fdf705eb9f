/** How the number in a cell is shown. */
export type NumberKind = 'number' | 'date' | 'time' | 'datetime' | 'elapsed' | { digits: number };

/** The built-in formats that show dates and times (ECMA-376 part 1, 18.8.30, with those of East Asian editions). */
const BUILT_IN: readonly (readonly [number, number, NumberKind])[] = [
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

export function builtInKind(id: number): NumberKind {
  return BUILT_IN.find(([from, to]) => id >= from && id <= to)?.[2] ?? 'number';
}

/** Returns the kind of a format by its code, such as `dd.mm.yyyy`, `[h]:mm`, or `00000`, which shows leading zeros. */
export function kindOfFormat(code: string): NumberKind {
  const [section = ''] = code.replaceAll(/"[^"]*"|\\.|[_*]./g, '').split(';');
  if (/^0{2,}$/.test(section)) return { digits: section.length };
  if (/\[(?:h+|m+|s+)\]/i.test(section)) return 'elapsed';
  const letters = section.replaceAll(/\[[^\]]*\]|general|am\/pm|a\/p/gi, '').toLowerCase();
  const hasTime = /[hs]/.test(letters);
  const hasDate = /[yd]/.test(letters) || (letters.includes('m') && !hasTime);
  if (hasDate) return hasTime ? 'datetime' : 'date';
  return hasTime ? 'time' : 'number';
}
