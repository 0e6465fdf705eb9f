import type { Context } from '../../cli/context.ts';
import type { Ids } from '../../cli/input/ids.ts';
import { hasFlag, rebuildCommand } from '../../cli/rerun.ts';
import { REMINDER_GAP } from '../../envelopes/defaults.ts';
import type { ActionContext, EnvelopeAction } from '../../envelopes/plan.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import { command } from '../../kernel/text/shell-words.ts';
import type { BatchAction } from './each.ts';
import { rolesReader } from './problems.ts';

/** The most IDs to show in a command that is meant to be copied. */
const MAX_IDS = 20;

/** Returns what the actions on envelopes need. */
export async function actionContext(context: Context): Promise<ActionContext> {
  const { session, terminal, interrupt } = context;
  const { baseUrl } = await session.settings();
  return {
    client: await session.client(),
    signal: interrupt.signal,
    rolesOf: rolesReader(context),
    reminders: {
      folder: stateDir(),
      account: baseUrl?.value ?? '',
      clock: session.clock,
      now: () => session.now(),
      onUnrecorded: ({ message }) =>
        terminal.notice(
          `A reminder can't be recorded, so a later --min-gap can't take it into account. ${message}`,
        ),
    },
  };
}

/**
 * Returns the texts for several envelopes. The service refuses a second send or cancel, so the same command is safe to run again.
 * It doesn't return reminders, but the local log contains those that may have been sent.
 */
export function batchAction({ name, done }: EnvelopeAction, ids: Ids, words: readonly string[]): BatchAction {
  const reminds = name === 'remind';
  const add = reminds && !hasFlag(words, '--min-gap') ? ['--min-gap', REMINDER_GAP] : [];
  const again = (left: readonly string[]) => retryCommand(words, ids, left, add);
  return {
    done,
    ifUnknown: (id) =>
      reminds
        ? `To skip signers who may already have been reminded, run \`${again([id])}\`.`
        : `To see its status, run \`${command('envelopes', 'get', id)}\`. It is safe to run \`${again([id])}\` again, because an envelope can't be ${done} twice.`,
    again,
  };
}

/** Returns the same command for these IDs. */
function retryCommand(
  words: readonly string[],
  { ids }: Ids,
  left: readonly string[],
  add: readonly string[],
): string {
  if (left.length > MAX_IDS) return rebuildCommand(words, { add });
  const yes = left.length > 1 && !hasFlag(words, '--yes') && !hasFlag(words, '-y') ? ['--yes'] : [];
  return rebuildCommand(words, { own: [...ids, '-'], ids: left, add: [...add, ...yes] });
}
