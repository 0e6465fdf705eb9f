import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../kernel/files/replace-file.ts';
import { isRecord, parseJson } from '../kernel/json.ts';

/** What is known of newer versions. Times in ms since the epoch. */
export interface UpdateRecord {
  /** When the registry was last asked, successfully or not. */
  askedAt: number | undefined;
  /** The latest version it named. */
  latest: string | undefined;
  /** When the notice was last shown. */
  toldAt: number | undefined;
}

const DAY_MS = 24 * 60 * 60_000;

/** The file of the record. */
export function recordPath(stateDir: string): string {
  return join(stateDir, 'update.json');
}

/** The record; one that is missing or broken is empty. */
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
    // Nothing is known yet.
  }
  return { askedAt: undefined, latest: undefined, toldAt: undefined };
}

/** Replaces the record: a reader sees the old one or the new one. */
export function writeRecord(path: string, record: UpdateRecord): void {
  replaceFile(path, JSON.stringify(record));
}

/** True when that was a day ago or more, never, or in the future of a clock that was set back. */
export function isDayAgo(at: number | undefined, now: number): boolean {
  return at === undefined || now - at >= DAY_MS || at > now;
}

/** True for the version of a release: three numbers and nothing else. */
export function isVersion(text: string): boolean {
  return /^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(text);
}

/** True when the first version is a later one than the second. A pre-release comes before its release. */
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
