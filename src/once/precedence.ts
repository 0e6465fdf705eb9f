import type { Envelope } from '../api/resource-types.ts';
import { timeOf } from '../kernel/clock.ts';

/** The facts about an envelope by which it is chosen. A run keeps them of thousands. */
export type PrecedenceFacts = Pick<Envelope, 'id' | 'status' | 'sentAt' | 'createdAt'>;

export function precedenceFactsOf({ id, status, sentAt, createdAt }: PrecedenceFacts): PrecedenceFacts {
  return { id, status, sentAt, createdAt };
}

/**
 * Orders envelopes of which only one counts, such as those of a request ID: sent ones before drafts, then older ones, then by ID. The
 * result is the same on every machine. Canceled drafts never count: callers leave them out.
 */
export function byPrecedence(a: PrecedenceFacts, b: PrecedenceFacts): number {
  const rank = ({ status }: PrecedenceFacts) => Number(status === 'DRAFT');
  const [first, second] = [timeOf(a.createdAt), timeOf(b.createdAt)];
  const isOlder = Number.isNaN(first - second) ? 0 : first - second;
  return rank(a) - rank(b) || isOlder || (a.id < b.id ? -1 : 1);
}
