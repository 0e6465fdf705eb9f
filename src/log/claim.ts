import { JournalError } from '../kernel/errors.ts';
import type { LoggedWrite } from './logged-write.ts';
import type { Intent } from './stored-records.ts';
import type { WriteMemory } from './write-memory.ts';

/** The intent of a write that may happen only once. */
export type KeyedIntent = Intent & { key: string };

/**
 * Appends an intent, then looks: returns undefined if the write may be sent, or the write that comes before it, and then the
 * intent is withdrawn. `counts` is asked for each write with its key or one of `otherKeys`.
 *
 * Of two processes, the one whose intent is first in a file sends. Its record was complete before the other's append began, so the
 * other sees it. When the month turns, the two may append to different files without seeing each other: then an intent in an
 * older file yields to one in a newer file, whose process may have looked before. Both may yield; they try again in the newer file.
 */
export async function claimFirstIntent(
  memory: WriteMemory,
  intent: KeyedIntent,
  counts: (write: LoggedWrite) => boolean,
  otherKeys: readonly string[] = [],
): Promise<LoggedWrite | undefined> {
  await memory.append([intent]);
  const writes = await memory.find([intent.key, ...otherKeys]);
  const at = writes.findIndex((one) => one.intent.id === intent.id);
  const file = writes[at]?.file;
  // A log that loses what was just written can't show earlier writes.
  if (file === undefined)
    throw new JournalError('The log of writes does not contain what was just written to it.', {
      hint: 'Nothing was sent. Check the disk, or set ESIGN_STATE_DIR to another folder.',
    });
  const rival = writes.find(
    (one, index) => one.intent.id !== intent.id && counts(one) && (index < at || one.file > file),
  );
  if (rival === undefined) return undefined;
  const { id, at: time, serviceAt, action, key } = intent;
  await memory.append([{ type: 'refused', id, at: time, serviceAt, action, key, error: 'SUPERSEDED' }]);
  return rival;
}
