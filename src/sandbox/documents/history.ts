import { createHash } from 'node:crypto';
import type { HistoryEntry } from '../model.ts';

/** The hash that precedes the first line of a history. */
const FIRST_HASH = '0'.repeat(64);

/**
 * Returns the hash chain of an envelope's history, one lowercase hex SHA-256 per line. Each is computed over the previous hash (64 zeros at
 * the start), a line feed, and the line as the JSON array `[at, what, signerId, detail]`. Changing, removing, or moving a line changes
 * every later hash.
 */
export function hashChain(history: readonly HistoryEntry[]): string[] {
  let previous = FIRST_HASH;
  return history.map(({ at, what, signerId, detail }) => {
    const line = JSON.stringify([at, what, signerId, detail]);
    previous = createHash('sha256').update(`${previous}\n${line}`).digest('hex');
    return previous;
  });
}

/** The wording of each event on the certificate. */
export const HISTORY_WORDS: Readonly<Record<HistoryEntry['what'], string>> = {
  created: 'Envelope created',
  sent: 'Envelope sent',
  notified: 'Request sent',
  reminded: 'Reminder sent',
  viewed: 'Document viewed',
  signed: 'Document signed',
  declined: 'Declined',
  completed: 'Envelope completed',
  cancelled: 'Envelope cancelled',
  expired: 'Envelope expired',
};
