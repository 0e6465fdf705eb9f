import type { Stored } from './service.ts';
import type { Settings } from './settings.ts';

/** How long an envelope may be missing from the list, in ms. */
const LONGEST_LAG_MS = 60_000;
/** How much further a list may fall behind between two readings of a process, in ms (`together`). */
const GROWTH_MS = 500;
/** With more envelopes that may be missing, not every combination is an option. */
const MOST_COMBINED = 3;

/** What a list may show. */
export interface View {
  says: string;
  shown: ReadonlySet<string>;
  /** The most that the list may have lagged behind, in ms. */
  lagMs: number;
}

/** Returns what a list may show at this time. The first view shows as much as possible. `lagMs`: that of the process's last reading. */
export function viewsOf(stored: readonly Stored[], now: number, lag: Settings['lag'], lagMs: number): View[] {
  if (lag === 'none') return [viewOf(stored, stored, LONGEST_LAG_MS)];
  if (lag === 'each') return eachAtItsOwnTime(stored, now);
  const views: View[] = [];
  for (let count = stored.length; count >= 0; count--) {
    const [last, next] = [stored[count - 1], stored[count]];
    const least = next === undefined ? -1 : now - next.at;
    const limit = lag === 'any' ? LONGEST_LAG_MS : Math.min(LONGEST_LAG_MS, lagMs + GROWTH_MS);
    const most = Math.min(limit, last === undefined ? LONGEST_LAG_MS : now - last.at);
    if (least < most) views.push(viewOf(stored, stored.slice(0, count), most));
  }
  return views;
}

function eachAtItsOwnTime(stored: readonly Stored[], now: number): View[] {
  const open = stored.filter((one) => !one.wasListed && now - one.at < LONGEST_LAG_MS);
  const missing = open.length <= MOST_COMBINED ? subsetsOf(open) : [[], ...open.map((one) => [one]), open];
  return missing.map((some) =>
    viewOf(
      stored,
      stored.filter((one) => !some.includes(one)),
      LONGEST_LAG_MS,
    ),
  );
}

function subsetsOf<T>(items: readonly T[]): T[][] {
  const [first, ...rest] = items;
  if (first === undefined) return [[]];
  const without = subsetsOf(rest);
  return [...without, ...without.map((some) => [first, ...some])];
}

function viewOf(all: readonly Stored[], shown: readonly Stored[], lagMs: number): View {
  const ids = shown.map(({ id }) => id);
  const missing = all.filter(({ id }) => !ids.includes(id)).map(({ id }) => id);
  const says = missing.length === 0 ? '' : `, without ${missing.join(' and ')}`;
  return { says, shown: new Set(ids), lagMs };
}
