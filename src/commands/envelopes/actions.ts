import type { Ids } from '../../cli/input/ids.ts';
import { sameCommand, wasGiven } from '../../cli/rerun.ts';
import { command } from '../../kernel/text/shell-words.ts';
import type { BatchAction } from './each.ts';

/** More ids than this make no command that anybody copies. */
const MOST_IDS = 20;
/** After this long a second reminder is no mishap. */
const GAP = '24h';

/** Sends or cancels: the service refuses what was done already, so that the same command is safe. */
export function actionOnce(done: string, ids: Ids, words: readonly string[]): BatchAction {
  return {
    done,
    ifUnknown: (id) =>
      `See where it stands: \`${command('envelopes', 'get', id)}\`. What was ${done} already is refused, so that this is safe: \`${again(words, ids, [id])}\`.`,
    again: (left) => again(words, ids, left),
  };
}

/** Reminds: nothing at the service tells of it, but who may have been mailed from here is in the log of reminders. */
export function reminding(ids: Ids, words: readonly string[]): BatchAction {
  const add = wasGiven(words, '--min-gap') ? [] : ['--min-gap', GAP];
  return {
    done: 'reminded',
    ifUnknown: (id) =>
      `To mail nobody who may have been mailed just now: \`${again(words, ids, [id], add)}\`.`,
    again: (left) => again(words, ids, left, add),
  };
}

/** The same command for these ids. */
function again(
  words: readonly string[],
  { ids }: Ids,
  left: readonly string[],
  add: readonly string[] = [],
): string {
  if (left.length > MOST_IDS) return sameCommand(words, { add });
  const yes = left.length > 1 && !wasGiven(words, '--yes') && !wasGiven(words, '-y') ? ['--yes'] : [];
  return sameCommand(words, { own: [...ids, '-'], ids: left, add: [...add, ...yes] });
}
