import { removeOldDays } from '../../journal/day-journal.ts';
import type { Clock } from '../../kernel/clock.ts';
import { DAY_MS } from '../../kernel/duration.ts';
import { removeOldForwards } from '../forward/ledger.ts';

export interface RetentionOptions {
  eventsFolder: string;
  forwardsFolder: string;
  /** How long a day of the journals is kept, in ms. */
  keepMs: number;
  clock: Clock;
  signal: AbortSignal;
  /** Called with the number of deleted days, if any. */
  onRemoved: (days: number) => void;
  onFailure: (error: unknown) => void;
}

/** Deletes expired days of the journals, immediately and then once a day, until aborted. */
export async function removeExpiredDays(options: RetentionOptions): Promise<void> {
  const { eventsFolder, forwardsFolder, keepMs, clock, signal } = options;
  while (!signal.aborted) {
    try {
      const before = clock.now() - keepMs;
      const days = await removeOldDays(eventsFolder, before);
      await removeOldForwards(forwardsFolder, eventsFolder, before);
      if (days > 0) options.onRemoved(days);
    } catch (error) {
      options.onFailure(error);
    }
    await clock.sleep(DAY_MS, signal).catch(() => undefined);
  }
}
