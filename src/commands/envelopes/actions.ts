import type { Ids } from '../../cli/input/ids.ts';
import { hasFlag, rebuildCommand } from '../../cli/rerun.ts';
import { REMINDER_GAP } from '../../envelopes/defaults.ts';
import { command } from '../../kernel/text/shell-words.ts';
import type { BatchAction } from './each.ts';

/** The most IDs to show in a command that is meant to be copied. */
const MAX_IDS = 20;

/** Send or cancel: the service refuses a repeated one, so running the same command again is safe. */
export function actionOnce(done: string, ids: Ids, words: readonly string[]): BatchAction {
  return {
    done,
    ifUnknown: (id) =>
      `To see its status, run \`${command('envelopes', 'get', id)}\`. It is safe to run \`${retryCommand(words, ids, [id])}\` again, because an envelope can't be ${done} twice.`,
    again: (left) => retryCommand(words, ids, left),
  };
}

/** Remind: the service doesn't return reminders, but the local reminder log contains those that may have been sent. */
export function remindAction(ids: Ids, words: readonly string[]): BatchAction {
  const add = hasFlag(words, '--min-gap') ? [] : ['--min-gap', REMINDER_GAP];
  return {
    done: 'reminded',
    ifUnknown: (id) =>
      `To skip signers who may already have been reminded, run \`${retryCommand(words, ids, [id], add)}\`.`,
    again: (left) => retryCommand(words, ids, left, add),
  };
}

/** Returns the same command for these IDs. */
function retryCommand(
  words: readonly string[],
  { ids }: Ids,
  left: readonly string[],
  add: readonly string[] = [],
): string {
  if (left.length > MAX_IDS) return rebuildCommand(words, { add });
  const yes = left.length > 1 && !hasFlag(words, '--yes') && !hasFlag(words, '-y') ? ['--yes'] : [];
  return rebuildCommand(words, { own: [...ids, '-'], ids: left, add: [...add, ...yes] });
}
