import type { Client } from '../../../api/client.ts';
import type { Context } from '../../../cli/session/context.ts';
import { EsignError, UsageError } from '../../../kernel/errors.ts';
import { isLocked } from '../../../kernel/files/lock.ts';
import { runsDir } from '../../../kernel/files/paths.ts';
import { isVoid } from '../../../kernel/statuses.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import { cancelDraft } from '../../../once/drafts.ts';
import type { WantedRequests } from '../../../once/wanted-requests.ts';
import { holdRun } from '../../../runs/hold-run.ts';
import { filesOf } from '../../../runs/run-files.ts';
import type { RunState } from '../../../runs/run-state.ts';

/*
 * Running a list again continues its unfinished runs: the new run takes over their drafts, and they end.
 */

/** @throws UsageError if another process is working on one of the runs. */
export async function refuseBusyRuns(runs: readonly RunState[]): Promise<void> {
  for (const { head } of runs) {
    if (!(await isLocked(filesOf(runsDir(), head.id).lock))) continue;
    throw new UsageError(
      `Another process is sending rows of this list: ${head.id}. Nothing was sent by this command.`,
      { run: head.id, hint: `See its progress: \`${command('bulk', 'status', head.id)}\`.` },
    );
  }
}

/** @throws UsageError if a run with rows of the list was started since the question was asked. */
export function refuseOtherRuns(now: readonly RunState[], asked: readonly RunState[]): void {
  const known = new Set(asked.map(({ head }) => head.id));
  if (now.every(({ head }) => known.has(head.id))) return;
  throw new UsageError('Another run with the same rows started in the meantime, so nothing was sent.', {
    hint: 'Run the command again.',
  });
}

/** Ends the runs that a new run continues. Their drafts for rows that are not in its list are canceled. */
export async function endContinuedRuns(
  runs: readonly RunState[],
  { by, wanted }: { by: string; wanted: WantedRequests },
  client: Client,
  { session, terminal, interrupt }: Context,
): Promise<void> {
  for (const state of runs) {
    const held = await holdRun(runsDir(), state.head.id);
    try {
      await held?.end(session.clock.now(), by);
    } finally {
      await held?.release();
    }
    for (const row of state.rows('reserved')) {
      const id = state.idOf(row);
      if (id === undefined || wanted.numberOf(state.requestIdOf(row)) !== undefined) continue;
      const after = await cancelDraft(client, id, `its list is continued by ${by}`, interrupt.signal).catch(
        (error: unknown) => {
          if (error instanceof EsignError) return { id, status: 'DRAFT' };
          throw error;
        },
      );
      if (!isVoid(after))
        terminal.notice(
          `${id} of ${state.head.id} is ${after.status ?? 'unknown'} and not in this list. To cancel it: \`${command('envelopes', 'cancel', id)}\`.`,
        );
    }
  }
}
