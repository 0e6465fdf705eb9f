/**
 * Returns a percentile (0–100) of whole numbers in ascending order, rounded, with linear interpolation between the two nearest
 * numbers. Returns null for an empty list. The 50th percentile is the median.
 */
export function percentile(sorted: ArrayLike<number>, percent: number): number | null {
  const last = sorted.length - 1;
  if (last < 0) return null;
  const rank = Math.min(last, Math.max(0, (last * percent) / 100));
  const below = Math.floor(rank);
  const low = sorted[below] ?? 0;
  const high = sorted[Math.min(last, below + 1)] ?? low;
  return Math.round(low + (high - low) * (rank - below));
}
