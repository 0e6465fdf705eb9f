import type { Context } from '../../../cli/session/context.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import { runsDir } from '../../../kernel/files/paths.ts';
import { preferLowMemory } from '../../../kernel/process/v8-flags.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import { type OpenRun, openRun } from '../../../runs/runs.ts';
import { useProfileOf } from '../../../selection/selected-run.ts';
import { requireSameOrganization } from '../../remembered-rows.ts';
import type { RunTools } from './work-on-run.ts';

/**
 * Opens a run to continue it. Uses the profile that it was started with unless another one is named.
 * @throws UsageError when it was started at another service, or the key belongs to another organization; ServiceError INVALID_STATE
 * when it was ended.
 */
export async function reopenRun(id: string, means: RunTools, context: Context): Promise<OpenRun> {
  preferLowMemory();
  const run = await openRun(runsDir(), id);
  try {
    await useProfileOf(run.state, context.session);
    await requireSameOrganization(run.state, await means.client(), context.interrupt.signal);
    if (run.state.endedAt === undefined) return run;
    const { continuedBy: by } = run.state;
    if (by !== undefined)
      throw new ServiceError('INVALID_STATE', `The list of ${id} was run again, which ended it.`, {
        status: 400,
        run: id,
        hint: `To resume the run that continues it: \`${command('bulk', 'resume', by)}\`.`,
      });
    throw new ServiceError('INVALID_STATE', `${id} was canceled, so it can't be resumed.`, {
      status: 400,
      run: id,
      hint: 'To send its rows after all, run `esign bulk create` again.',
    });
  } catch (error) {
    await run.close();
    throw error;
  }
}
