import type { TableFinding } from '../../tables/table-types.ts';

/** What was found on one or more lines of a file. `line` is the first one. */
export interface FindingGroup extends TableFinding {
  lines: readonly number[];
}

/** How many different findings are kept. A file with more has another kind of problem, and must not fill the memory. */
const MAX_GROUPS = 100_000;

/** Findings about lines. The same finding about many lines is kept once. */
export class LineFindings {
  /** Number of findings, counting each line. */
  count = 0;
  /** Number of different findings that were not kept. */
  dropped = 0;
  readonly #groups = new Map<string, FindingGroup & { lines: number[] }>();

  add(finding: TableFinding): void {
    this.count++;
    const key = `${finding.column}\n${finding.text}`;
    const group = this.#groups.get(key);
    if (group !== undefined) group.lines.push(finding.line);
    else if (this.#groups.size < MAX_GROUPS) this.#groups.set(key, { ...finding, lines: [finding.line] });
    else this.dropped++;
  }

  /** Number of different findings. */
  get different(): number {
    return this.#groups.size + this.dropped;
  }

  /** Returns the different findings: those about most lines first, then in the order of the lines. */
  groups(): FindingGroup[] {
    return [...this.#groups.values()].sort(mostLinesFirst);
  }
}

/** Returns findings that differ only in their values as one, with the value of the first line. */
export function foldSimilar(groups: readonly FindingGroup[]): FindingGroup[] {
  const kinds = new Map<string, FindingGroup & { lines: number[] }>();
  for (const one of groups) {
    const kind = `${one.column}\n${one.text.replaceAll(/"[^"]*"|\{[^{}]*\}|\d+/g, '')}`;
    const known = kinds.get(kind);
    if (known === undefined) kinds.set(kind, { ...one, lines: [...one.lines] });
    else known.lines = known.lines.concat(one.lines);
  }
  for (const kind of kinds.values()) kind.lines.sort((one, other) => one - other);
  return [...kinds.values()].sort(mostLinesFirst);
}

function mostLinesFirst(one: FindingGroup, other: FindingGroup): number {
  return other.lines.length - one.lines.length || one.line - other.line;
}

/** Returns line numbers in words, such as `2–40, 45`, with at most `max` ranges. */
export function lineRanges(lines: readonly number[], max = Number.POSITIVE_INFINITY): string {
  const ranges: [number, number][] = [];
  for (const line of lines) {
    const last = ranges.at(-1);
    if (last !== undefined && line <= last[1] + 1) last[1] = Math.max(last[1], line);
    else ranges.push([line, line]);
  }
  const shown = ranges.slice(0, max).map(([from, to]) => (from === to ? String(from) : `${from}–${to}`));
  return [...shown, ...(ranges.length > max ? ['…'] : [])].join(', ');
}
