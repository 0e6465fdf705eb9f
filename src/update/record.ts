import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DAY_MS } from '../kernel/duration.ts';
import { replaceFile } from '../kernel/files/replace-file.ts';
import { isRecord, parseJson } from '../kernel/json.ts';

/** The result of the last check for a newer version. Times are in ms since the epoch. */
export interface UpdateRecord {
  /** The time of the last check, successful or not. */
  askedAt: number | undefined;
  /** The latest version that the registry returned. */
  latest: string | undefined;
  /** When the notice was last shown. */
  toldAt: number | undefined;
}

/** Returns the path of the record. */
export function recordPath(stateDir: string): string {
  return join(stateDir, 'update.json');
}

/** Reads the record. Returns an empty one if it is missing or damaged. */
export function readRecord(path: string): UpdateRecord {
  try {
    const read = parseJson(readFileSync(path, 'utf8'));
    if (isRecord(read)) {
      const { askedAt, latest, toldAt } = read;
      return {
        askedAt: typeof askedAt === 'number' ? askedAt : undefined,
        latest: typeof latest === 'string' && isVersion(latest) ? latest : undefined,
        toldAt: typeof toldAt === 'number' ? toldAt : undefined,
      };
    }
  } catch {
    // There is no record yet.
  }
  return { askedAt: undefined, latest: undefined, toldAt: undefined };
}

/** Replaces the record. A reader sees either the old or the new one. */
export function writeRecord(path: string, record: UpdateRecord): void {
  replaceFile(path, JSON.stringify(record));
}

/** Returns true if the time is at least a day ago, is missing, or is in the future because the clock was set back. */
export function isDayAgo(at: number | undefined, now: number): boolean {
  return at === undefined || now - at >= DAY_MS || at > now;
}

/** Returns true for a release version, which has exactly three numbers. */
export function isVersion(text: string): boolean {
  return /^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(text);
}

/** Returns true if the first version is newer than the second. A prerelease is older than its release. */
export function isNewer(one: string, other: string): boolean {
  const [mine, theirs] = [numbersOf(one), numbersOf(other)];
  const first = mine.findIndex((number, place) => number !== theirs[place]);
  if (first < 0) return !one.includes('-') && other.includes('-');
  return (mine[first] ?? 0) > (theirs[first] ?? 0);
}

function numbersOf(version: string): number[] {
  const [release = ''] = version.split(/[-+]/);
  return release.split('.').map(Number);
}
