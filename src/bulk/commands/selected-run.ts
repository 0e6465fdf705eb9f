import { searchEnvelopes } from '../../catalog/commands/select-envelopes.ts';
import { markedEnvelopes } from '../../catalog/envelope-list.ts';
import { isOfRun, type SelectedRun } from '../../catalog/run-members.ts';
import { ServiceError, UsageError } from '../../kernel/errors.ts';
import { runsDir } from '../../kernel/files/paths.ts';
import type { Context } from '../../session/context.ts';
import type { Session } from '../../session/session.ts';
import type { RunState } from '../run-state.ts';

/**
 * Finds a run by its journal on this machine (`last` is the latest one), or else by the metadata of its envelopes.
 * @throws ServiceError NOT_FOUND if neither exists; UsageError if `last` finds no run, or the run belongs to another service.
 */
export async function selectedRun(name: string, context: Context): Promise<SelectedRun> {
  const run = await runFilter(name, context);
  if (run.envelopeIds === undefined && !(await hasEnvelopes(run, context))) throw unknownRunError(run.id);
  return run;
}

/** Like `selectedRun`, but a run that doesn't exist has no envelopes. */
export async function runFilter(name: string, context: Context): Promise<SelectedRun> {
  const id = await namedRun(name);
  const state = await runOnThisMachine(id, context);
  return { id, envelopeIds: state?.envelopeIds() };
}

/**
 * Reads the journal of a run, and uses the profile with which the run was started unless another one is named.
 * @throws UsageError if the run was started at another service or its journal can't be read.
 */
export async function runOnThisMachine(id: string, context: Context): Promise<RunState | undefined> {
  const { readRunIfHere } = await import('../runs.ts');
  const state = await readRunIfHere(runsDir(), id);
  if (state !== undefined) await useProfileOf(state, context.session);
  return state;
}

/** Ends a run for good, so that a resume can't send the rest after its envelopes were canceled. */
export async function endRunNamed(name: string, { session, terminal }: Context): Promise<void> {
  const { lastRun } = await import('../run-list.ts');
  const { endRun } = await import('../runs.ts');
  const id = name === 'last' ? await lastRun(runsDir()) : name;
  if (id !== undefined && (await endRun(runsDir(), id, session.clock.now())))
    terminal.notice(`${id} has ended. Its other rows will not be sent.`);
}

/** Uses the profile of the run. @throws UsageError if the run was started at a service other than the current one. */
export async function useProfileOf({ head }: RunState, session: Session): Promise<void> {
  const { id, profile, baseUrl } = head;
  const settings = await session.settings(profile === null ? {} : { fallbackProfile: profile });
  if (settings.baseUrl === undefined || settings.baseUrl.value === baseUrl) return;
  throw new UsageError(
    `${id} was started with the base URL ${baseUrl}, but the current one is ${settings.baseUrl.value}.`,
    { run: id, hint: 'Select its profile with --profile.' },
  );
}

async function hasEnvelopes(run: SelectedRun, context: Context): Promise<boolean> {
  // The index knows them without reading each of them again.
  const { envelopes } = await searchEnvelopes({ run }, { limit: 1 }, context);
  for await (const _ of envelopes) return true;
  // A list may show empty metadata although the envelope has some.
  const { signal } = context.interrupt;
  for await (const one of markedEnvelopes(await context.session.client(), { signal }))
    if (isOfRun(run, one)) return true;
  return false;
}

function noRunsError(): UsageError {
  return new UsageError('This machine has no runs yet.', {
    hint: 'Start one: `esign bulk create FILE --template ID`.',
  });
}

function unknownRunError(id: string): ServiceError {
  return new ServiceError(
    'NOT_FOUND',
    `Run ${id} was not found on this machine or among the service's envelopes.`,
    {
      status: 404,
      run: id,
      hint: 'List the runs on this machine with `esign bulk list`. For a run on another machine, check the run ID and the profile.',
    },
  );
}

/** Returns the named run. Without a name, or for `last`, returns the latest one. */
export async function namedRun(id: string | undefined): Promise<string> {
  const { lastRun } = await import('../run-list.ts');
  const found = id === undefined || id === 'last' ? await lastRun(runsDir()) : id;
  if (found !== undefined) return found;
  throw noRunsError();
}
