/** Values that differ between runs; each matches any value of its kind. */
const KINDS: readonly (readonly [name: string, pattern: string])[] = [
  ['time', String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| UTC)`],
  ['clock', String.raw`\b\d\d:\d\d:\d\d\b`],
  ['ago', String.raw`just now|(?:in )?\d+ (?:second|minute|hour|day|month|year)s?(?: ago)?`],
  ['span', String.raw`\b\d+(?:\.\d+)? (?:ms|s)\b`],
  ['hash', String.raw`\b(?=[0-9a-f]*\d)[0-9a-f]{8,64}\b`],
  ['port', String.raw`(?<=sandbox/)\d+\b`],
  ['node', String.raw`\bv\d+\.\d+\.\d+\b`],
];
/** Values that refer to the same thing wherever a page names them. */
const NAMED: readonly string[] = [
  String.raw`\b(?:env|dlv|signer|org|req)_[0-9a-z]+\b`,
  String.raw`\brun-\d{8}-\d{9}-[0-9a-f]+\b`,
  String.raw`(?<=(?:127\.0\.0\.1|localhost):)\d+\b`,
  String.raw`\b(?:esk|whsec)_[0-9A-Za-z_-]+`,
];
/** A size must be about the one shown: documents differ by the names and times in them. */
const SIZE = String.raw`\b\d+(?:\.\d+)? [KMG]?B\b`;
const SIZE_DIFFERS_BY = 0.15;
const TOKEN = new RegExp(
  [
    `(?<size>${SIZE})`,
    ...KINDS.map(([name, pattern]) => `(?<${name}>${pattern})`),
    ...NAMED.map((pattern, index) => `(?<named${index}>${pattern})`),
    '(?<gap> {2,})',
    '(?<rest>…)',
  ].join('|'),
  'g',
);

/** The values of the page's names (`env_123`, port 4010) in this run. */
export type Bindings = Map<string, string>;

interface Pattern {
  regex: RegExp;
  names: string[];
}

/** Returns a shown line as a pattern: known names with their values in this run, new ones as captures. */
function patternOf(shown: string, bindings: Bindings): Pattern {
  const names: string[] = [];
  let source = '';
  let end = 0;
  for (const match of shown.matchAll(TOKEN)) {
    source += escaped(shown.slice(end, match.index));
    end = match.index + match[0].length;
    source += partOf(match, bindings, names);
  }
  return { regex: new RegExp(`^${source}${escaped(shown.slice(end))}$`), names };
}

function partOf(match: RegExpExecArray, bindings: Bindings, names: string[]): string {
  const [text] = match;
  const [kind = ''] =
    Object.entries<string | undefined>(match.groups ?? {}).find(([, value]) => value !== undefined) ?? [];
  if (kind === 'gap') return ' {2,}';
  if (kind === 'rest') return '.*';
  if (kind === 'size') {
    names.push(text);
    return `(${SIZE})`;
  }
  const fixed = KINDS.find(([name]) => name === kind);
  if (fixed) return `(?:${fixed[1]})`;
  const known = bindings.get(text);
  if (known !== undefined) return escaped(known);
  const before = names.indexOf(text);
  if (before >= 0) return `\\${before + 1}`;
  names.push(text);
  return `(${NAMED[Number(kind.slice(5))] ?? ''})`;
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

/**
 * Compares the output of a command with the page, and records the values of new names. A line with only `…` matches any
 * lines. Returns the problem, or undefined.
 */
export function compare(shown: readonly string[], printed: readonly string[], bindings: Bindings): string {
  let at = 0;
  let skipping = false;
  for (const line of shown) {
    if (line.trim() === '…') {
      skipping = true;
      continue;
    }
    const { regex, names } = patternOf(line.trimEnd(), bindings);
    const found = printed.findIndex((one, index) => index >= at && regex.test(one.trimEnd()));
    if (found < 0 || (found > at && !skipping)) return `shown: ${line}\ngot:   ${printed[at] ?? '(no more)'}`;
    const [, ...values] = regex.exec(printed[found]?.trimEnd() ?? '') ?? [];
    const problem = learn(names, values, bindings);
    if (problem !== '') return problem;
    at = found + 1;
    skipping = false;
  }
  const more = printed.slice(at).filter((line) => line.trim() !== '');
  return more.length > 0 && !skipping ? `not shown: ${more.join('\n')}` : '';
}

/** Records the values of the page's names in this run, and compares sizes with those shown. */
function learn(names: readonly string[], values: readonly string[], bindings: Bindings): string {
  for (const [index, name] of names.entries()) {
    const value = values[index] ?? '';
    if (!isSize.test(name)) bindings.set(name, value);
    else if (!isNear(name, value)) return `shown: ${name}\ngot:   ${value}`;
  }
  return '';
}

const isSize = new RegExp(`^${SIZE}$`);

function isNear(shown: string, printed: string): boolean {
  const [size, unit] = shown.split(' ');
  const [other, otherUnit] = printed.split(' ');
  return unit === otherUnit && Math.abs(Number(other) - Number(size)) <= Number(size) * SIZE_DIFFERS_BY;
}

/** Returns a command with the page's names replaced by the values of this run. */
export function inThisRun(command: string, bindings: Bindings): string {
  const names = [...bindings.keys()].sort((a, b) => b.length - a.length);
  if (names.length === 0) return command;
  const known = names.map((name) => (/^\d+$/.test(name) ? `(?<=:)${name}\\b` : `(?<!\\$)\\b${name}\\b`));
  return command.replaceAll(new RegExp(known.join('|'), 'g'), (name) => bindings.get(name) ?? name);
}
