import { createHash } from 'node:crypto';
import type { HistoryEntry } from '../model.ts';

/** What the first line of a history follows on. */
const START = '0'.repeat(64);

/**
 * The hash chain over an envelope's history, one lowercase hex SHA-256 per line: each is taken over the hash
 * before it (64 zeros at the start), a line feed, and the line as the JSON array
 * `[at, what, signerId, detail]`. A line that is changed, left out or moved changes every hash after it.
 */
export function hashChain(history: readonly HistoryEntry[]): string[] {
  let previous = START;
  return history.map(({ at, what, signerId, detail }) => {
    const line = JSON.stringify([at, what, signerId, detail]);
    previous = createHash('sha256').update(`${previous}\n${line}`).digest('hex');
    return previous;
  });
}

/** What happened, in words for the certificate. */
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
