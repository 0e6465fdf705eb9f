import type { Envelope } from '../api/resource-types.ts';
import { markedEnvelopes } from '../catalog/envelope-list.ts';
import { runOf } from '../catalog/markers.ts';
import type { SelectedRun } from '../catalog/run-members.ts';
import type { Context } from '../cli/session/context.ts';
import type { Session } from '../cli/session/session.ts';
import { messageOf, ServiceError, UsageError } from '../kernel/errors.ts';
import { runsDir } from '../kernel/files/paths.ts';
import { command } from '../kernel/text/shell-words.ts';
import type { RunState } from '../runs/run-state.ts';
import { searchEnvelopes } from './select-envelopes.ts';

/** Stands for the latest run of the account. */
const LAST = 'last';

/**
 * Finds a run by its journal on this machine (`last` is the latest one), or else by the metadata of its envelopes.
 * @throws ServiceError NOT_FOUND if neither exists; UsageError if `last` finds no run, or the run belongs to another service.
 */
export async function selectedRun(name: string, context: Context): Promise<SelectedRun> {
  const run = await runForFilter(name, context);
  if (run.envelopeIds !== undefined || (await hasListed(run, context))) return run;
  const envelopeIds = await searchRun(run.id, context);
  if (envelopeIds.size === 0) throw unknownRunError(run.id);
  return { id: run.id, envelopeIds };
}

/** The envelopes of a run, and which of them it created or sent itself. */
export interface OwnEnvelopes {
  run: SelectedRun;
  isOwn: (envelope: Envelope) => boolean;
}

/** Like `selectedRun`, for actions that apply only to what the run created or sent itself. */
export async function ownEnvelopesOf(name: string, context: Context): Promise<OwnEnvelopes> {
  const run = await selectedRun(name, context);
  const state = await runOnThisMachine(run.id, context);
  const [known, own] = [state?.envelopeIds(), state?.ownEnvelopes()];
  const isOwn = (envelope: Envelope) => {
    if (known?.has(envelope.id)) return own?.has(envelope.id) === true;
    // Without the journal, or after a lost response, only the marker shows it, which a list may leave out.
    return runOf(envelope) === run.id || (state === undefined && run.envelopeIds?.has(envelope.id) === true);
  };
  return { run, isOwn };
}

/** Like `selectedRun`, but a run that doesn't exist has no envelopes. */
export async function runForFilter(name: string, context: Context): Promise<SelectedRun> {
  const id = await resolveRunId(name, context);
  const state = await runOnThisMachine(id, context);
  return { id, envelopeIds: state?.envelopeIds() };
}

/**
 * Reads the journal of a run, and uses the profile with which the run was started unless another one is named.
 * @throws UsageError if the run was started at another service or its journal can't be read.
 */
export async function runOnThisMachine(id: string, context: Context): Promise<RunState | undefined> {
  const { readRunIfHere } = await import('../runs/runs.ts');
  const state = await readRunIfHere(runsDir(), id);
  if (state !== undefined) await useProfileOf(state, context.session);
  return state;
}

/**
 * Does `work` while no other process can work on a run, which would create envelopes that `work` doesn't know. `work` calls `end` to end
 * the run for good, so that a resume can't send the rest after its envelopes were canceled.
 * @throws UsageError when another process is working on the run.
 */
export async function whileHolding(
  name: string,
  context: Context,
  work: (end: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const { session, terminal } = context;
  const { holdRun } = await import('../runs/hold-run.ts');
  if (name === LAST) await refuseStartingRun();
  const id = await resolveRunId(name, context);
  const held = await holdRun(runsDir(), id);
  const end = async () => {
    if (held === undefined) return;
    await held.end(session.clock.now());
    terminal.notice(`${id} has ended. Its other rows will not be sent.`);
  };
  try {
    await work(end);
  } finally {
    await held?.release();
  }
}

/** @throws UsageError if a run is starting, because it will be the latest one. */
async function refuseStartingRun(): Promise<void> {
  const { startingRun } = await import('../runs/runs.ts');
  const id = await startingRun(runsDir());
  if (id === undefined) return;
  throw new UsageError(`Another process is starting ${id}, which will be the latest run.`, {
    run: id,
    hint: 'Name the run. List the runs with `esign bulk list`.',
  });
}

/** Uses the profile of the run. @throws UsageError if the run was started at a service other than the current one. */
export async function useProfileOf({ head }: RunState, session: Session): Promise<void> {
  const { id, profile, baseUrl } = head;
  const settings = await session.settings(profile === null ? {} : { fallbackProfile: profile });
  if (settings.baseUrl === undefined || settings.baseUrl.value === baseUrl) return;
  throw new UsageError(`${id} was started at ${baseUrl}, not at ${settings.baseUrl.value}.`, {
    run: id,
    hint:
      profile === null
        ? `Add --base-url ${baseUrl}, or list the runs with \`esign bulk list\`.`
        : `If the profile ${profile} still exists, add --profile ${profile}. List the runs with \`esign bulk list\`.`,
  });
}

/** Returns true if the index, which doesn't read each envelope again, shows that the run exists. */
async function hasListed(run: SelectedRun, context: Context): Promise<boolean> {
  const { envelopes } = await searchEnvelopes({ run }, { limit: 1 }, context);
  for await (const _ of envelopes) return true;
  return false;
}

/** Returns the envelopes of a run, also those whose metadata the list shows as empty. */
async function searchRun(id: string, { session, interrupt }: Context): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const one of markedEnvelopes(await session.client(), { signal: interrupt.signal }))
    if (runOf(one) === id) found.add(one.id);
  return found;
}

/** How the commands that are run next name a run: as an argument, which may be omitted, or as a filter. */
export interface RunArguments {
  argument: readonly string[];
  filter: readonly ['--run', string];
}

export function argumentsOfRun(id: string): RunArguments {
  return { argument: [id], filter: ['--run', id] };
}

/** Returns how commands name a run in the fewest words: the latest one of the account needs no ID. */
export async function shortArgumentsOfRun(id: string, { session }: Context): Promise<RunArguments> {
  const { lastRun } = await import('../runs/run-list.ts');
  const { baseUrl } = await session.settings();
  const { head, damaged } = await lastRun(runsDir(), baseUrl?.value);
  const isLast = head?.id === id && damaged.length === 0;
  return isLast ? { argument: [], filter: ['--run', LAST] } : argumentsOfRun(id);
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

/** What happens if a run whose journal is damaged may be newer than the latest one: the latter is used with a notice, or nothing is. */
export type DamagedNewerRun = 'notice' | 'refuse';

/**
 * Returns the named run. Without a name, or for `last`, returns the latest one of the account.
 * @throws UsageError if the account has no runs, or if it isn't certain which one is the latest.
 */
export async function resolveRunId(
  id: string | undefined,
  { session, terminal }: Context,
  onDamaged: DamagedNewerRun = 'refuse',
): Promise<string> {
  if (id !== undefined && id !== LAST) return id;
  const { lastRun } = await import('../runs/run-list.ts');
  const { baseUrl } = await session.settings();
  const { head, damaged } = await lastRun(runsDir(), baseUrl?.value);
  const [newer] = damaged;
  if (head === undefined && newer !== undefined) throw newer.error;
  if (head === undefined) throw await noRunError(session);
  if (newer === undefined) return head.id;
  if (onDamaged === 'refuse') throw uncertainLastError(newer, head.id);
  terminal.notice(`${newer.id} is newer, but its journal is damaged. Showing ${head.id}.`);
  return head.id;
}

function uncertainLastError(newer: { id: string; error: unknown }, id: string): UsageError {
  return new UsageError(`It is not certain which run is the latest. ${messageOf(newer.error)}`, {
    run: newer.id,
    hint: `If you mean the one before ${newer.id}, name it: ${id}. See it with \`${command('bulk', 'status', id)}\`.`,
  });
}

async function noRunError(session: Session): Promise<UsageError> {
  const { lastRun } = await import('../runs/run-list.ts');
  const { baseUrl, profileName } = await session.settings();
  const { head: other } = await lastRun(runsDir());
  if (other === undefined)
    return new UsageError('This machine has no runs yet.', {
      hint: 'Start one: `esign bulk create FILE --template ID`.',
    });
  return new UsageError(
    `This machine has no runs of ${profileName === undefined ? baseUrl?.value : `the profile ${profileName.value}`}.`,
    { hint: `The latest run of another account is ${other.id}: \`${command('bulk', 'status', other.id)}\`.` },
  );
}
