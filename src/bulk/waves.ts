import type { Client } from '../api/client.ts';
import { READ_CONCURRENCY } from '../api/defaults.ts';
import { readIfExists } from '../envelopes/marked-envelopes.ts';
import { Limiter } from '../kernel/async/limiter.ts';
import { isInFlight } from '../kernel/vocabulary.ts';
import type { StopLimit, Waves } from './entries.ts';
import type { KnownRows } from './lookup/known-rows.ts';
import type { RunState } from './run-state.ts';

/** The number of rows in each wave, and the limits above which no further wave is sent. */
export interface WaveSizes {
  sizes: readonly number[];
  stopIf: StopLimit[];
}

/** A limit of `--stop-if` and the actual share. */
export interface ShareFigure {
  share: StopLimit['share'];
  /** The share is `count` of `of`. */
  count: number;
  of: number;
  /** 0 to 1. */
  limit: number;
  isExceeded: boolean;
  /** The 95% confidence interval of the share among all rows, 0 to 1. */
  range: readonly [low: number, high: number];
}

/** With more envelopes than this, the list is read instead, 100 at a time. */
const MAX_READ_BY_ID = 20;
/** Standard deviations of a 95% confidence interval. */
const Z = 1.96;

/**
 * Returns the last row of each wave. Sizes count only rows that need work, not rows that an earlier run sent. Rows beyond the
 * sizes form a last wave.
 */
export function waveEnds(
  sizes: readonly number[],
  total: number,
  needsWork: (row: number) => boolean,
): number[] {
  const ends: number[] = [];
  let [left, open] = [sizes[0] ?? Number.POSITIVE_INFINITY, 0];
  for (let row = 1; row <= total; row++) {
    if (!needsWork(row)) continue;
    // The wave ends before the next row that needs work, so that no wave is empty.
    if (open === left) {
      ends.push(row - 1);
      left = sizes[ends.length] ?? Number.POSITIVE_INFINITY;
      open = 0;
    }
    open++;
  }
  return [...ends, total];
}

/** Returns the journal entry for the waves. */
export function wavesEntry({ sizes, stopIf }: WaveSizes, total: number, known: KnownRows): Waves {
  const done = new Set([...known.existing, ...known.ended].map(({ row }) => row));
  return { type: 'waves', ends: waveEnds(sizes, total, (row) => !done.has(row)), stopIf };
}

/** Reads the status of the envelopes that were sent and compares the shares with the run's limits. */
export async function readShares(
  state: RunState,
  client: Client,
  signal: AbortSignal,
): Promise<ShareFigure[]> {
  const limits = state.waves?.stopIf ?? [];
  const sent = [...state.rows('done')].flatMap((row) => state.idOf(row) ?? []);
  const needsStatus = limits.some(({ share }) => share !== 'failed');
  const statuses = needsStatus ? await statusesOf(sent, client, signal) : [];
  const failed = state.count('failed') - state.untriedFailures;
  const counts = {
    declined: [statuses.filter((status) => status === 'DECLINED').length, sent.length],
    waiting: [statuses.filter(isInFlight).length, sent.length],
    failed: [failed, failed + sent.length],
  } as const;
  return limits.map(({ share, above }) => figureOf(share, ...counts[share], above));
}

export function figureOf(share: StopLimit['share'], count: number, of: number, limit: number): ShareFigure {
  return { share, count, of, limit, isExceeded: of > 0 && count / of > limit, range: rangeOf(count, of) };
}

/** Returns the Wilson score interval, which is also valid for small numbers such as 2 of 20. */
function rangeOf(count: number, of: number): [number, number] {
  if (of === 0) return [0, 1];
  const share = count / of;
  const scale = 1 + Z ** 2 / of;
  const middle = (share + Z ** 2 / (2 * of)) / scale;
  const half = (Z / scale) * Math.sqrt((share * (1 - share)) / of + Z ** 2 / (4 * of ** 2));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

async function statusesOf(
  ids: readonly string[],
  client: Client,
  signal: AbortSignal,
): Promise<(string | null | undefined)[]> {
  const statuses = new Map<string, string | null | undefined>();
  const missing = new Set(ids);
  if (ids.length > MAX_READ_BY_ID) {
    for await (const { id, status } of client.envelopes.list({ signal })) {
      if (!missing.delete(id)) continue;
      statuses.set(id, status);
      if (missing.size === 0) break;
    }
  }
  const limiter = new Limiter(READ_CONCURRENCY);
  const reads = [...missing].map((id) =>
    limiter.run(async () => {
      statuses.set(id, (await readIfExists(client, id, signal))?.status);
    }),
  );
  await Promise.all(reads);
  return [...statuses.values()];
}
