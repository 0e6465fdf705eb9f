import type { OnDamage } from '../journal/day-journal.ts';
import type { Forwarding } from './forward/forwarding.ts';
import { RETRY_PERIOD_MS } from './forward/queue.ts';
import type { EventRecord } from './journal/record.ts';

/** How long repeated deliveries are recognized. */
const DUPLICATE_WINDOW_MS = 86_400_000;

/** Reads the pending forwards and the recent IDs from the journal. Returns the IDs, oldest first. */
export async function loadRecent(
  forwarding: Forwarding,
  { name, folder, now }: { name: string; folder: string; now: number },
  onDamage: OnDamage,
): Promise<string[]> {
  const span = forwarding.targets.length > 0 ? 2 * RETRY_PERIOD_MS : DUPLICATE_WINDOW_MS;
  const seen: { receivedAt: string; id: string }[] = [];
  const recent = new Date(now - DUPLICATE_WINDOW_MS).toISOString();
  const visit = ({ reason, receivedAt, id }: EventRecord) => {
    if (reason === null && receivedAt >= recent) seen.push({ receivedAt, id });
  };
  await forwarding.loadPending(name, { eventsFolder: folder, since: now - span }, visit, onDamage);
  return seen.sort((a, b) => (a.receivedAt < b.receivedAt ? -1 : 1)).map(({ id }) => id);
}
