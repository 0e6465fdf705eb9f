import type { LoggedWrite } from './logged-write.ts';
import type { Intent } from './stored-records.ts';

/** A write as shown by `esign log`. */
export interface LogEntry
  extends Pick<Intent, 'id' | 'at' | 'user' | 'profile' | 'baseUrl' | 'command' | 'effect' | 'requestId'> {
  envelopeIds: readonly string[];
  /** `refused`: certainly not done. `unknown`: the response was lost, or the process ended before it arrived. */
  outcome: 'done' | 'refused' | 'unknown';
  /** An error code. */
  error: string | null;
  /** Why the envelope was canceled. */
  reason?: string | undefined;
  /** The bulk run that all its writes belong to. */
  run?: string | undefined;
  counts?: Record<string, number> | undefined;
}

export function logEntryOf(write: LoggedWrite): LogEntry {
  const { intent, envelopeIds, error, counts } = write;
  const { id, at, user, profile, baseUrl, command, effect, requestId, reason, run } = intent;
  return {
    id,
    at,
    user,
    profile,
    baseUrl,
    command,
    effect,
    envelopeIds,
    requestId,
    outcome: outcomeOf(write),
    error,
    ...(reason === undefined ? {} : { reason }),
    ...(run === undefined ? {} : { run }),
    ...(counts === undefined ? {} : { counts }),
  };
}

function outcomeOf({ state, envelopeIds, intent }: LoggedWrite): LogEntry['outcome'] {
  if (state === 'open' || state === 'unknown') return 'unknown';
  if (state === 'absent') {
    // It was done, but its envelope doesn't exist anymore; or it was searched for and created nothing.
    return intent.action === 'create' && envelopeIds.length > 0 ? 'done' : 'refused';
  }
  return state;
}
