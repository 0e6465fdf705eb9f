import { counted } from '../../kernel/duration.ts';
import type { LogEntry } from '../../log/entry.ts';
import type { ListView } from '../../output/list.ts';
import { relativeTime } from '../../output/time.ts';

/** Returns the log as a list. `now` is used for relative times on a terminal. */
export function logList(now: number): ListView<LogEntry> {
  return {
    id: ({ id }) => id,
    empty: 'No log entries found.',
    columns: [
      { key: 'id', header: 'ID', value: ({ id }) => id, fixed: true },
      { key: 'at', header: 'AT', value: ({ at }) => at, fixed: true },
      { key: 'user', header: 'USER', value: ({ user }) => user },
      { key: 'profile', header: 'PROFILE', value: ({ profile }) => profile ?? '' },
      { key: 'baseUrl', header: 'BASE URL', value: ({ baseUrl }) => baseUrl },
      { key: 'command', header: 'COMMAND', value: ({ command }) => command },
      { key: 'effect', header: 'EFFECT', value: ({ effect }) => effect },
      { key: 'envelopeIds', header: 'ENVELOPES', value: ({ envelopeIds }) => envelopeIds.join(' ') },
      { key: 'requestId', header: 'REQUEST ID', value: ({ requestId }) => requestId ?? '' },
      { key: 'outcome', header: 'OUTCOME', value: ({ outcome }) => outcome },
      { key: 'error', header: 'ERROR', value: ({ error }) => error ?? '' },
    ],
    shown: [
      { key: 'id', header: 'ID', value: ({ id }) => id, fixed: true },
      { key: 'at', header: 'WHEN', value: ({ at }) => relativeTime(at, now), fixed: true },
      { key: 'command', header: 'COMMAND', value: ({ command }) => command, fixed: true },
      { key: 'outcome', header: 'OUTCOME', value: outcomeOf, fixed: true },
      { key: 'envelopeIds', header: 'ENVELOPES', value: envelopesOf },
      { key: 'profile', header: 'PROFILE', value: ({ profile }) => profile ?? '' },
      { key: 'user', header: 'USER', value: ({ user }) => user },
    ],
  };
}

function outcomeOf({ outcome, error }: LogEntry): string {
  return error === null ? outcome : `${outcome}: ${error}`;
}

function envelopesOf({ envelopeIds }: LogEntry): string {
  return envelopeIds.length > 1 ? counted(envelopeIds.length, 'envelope') : (envelopeIds[0] ?? '');
}
