import type { Client } from '../../api/client.ts';
import { requestsFor, timeByWindow } from '../../bulk/estimate.ts';
import type { RowResult } from '../../bulk/results.ts';
import { type Ending, workOnRun } from '../../bulk/run.ts';
import { detailsOf, lastRun } from '../../bulk/run-list.ts';
import { type OpenRun, openRun } from '../../bulk/runs.ts';
import { counted } from '../../kernel/duration.ts';
import {
  EsignError,
  isNotFound,
  PartialError,
  StoppedError,
  sentenceOf,
  UsageError,
} from '../../kernel/errors.ts';
import { preferLowMemory } from '../../kernel/process/v8-flags.ts';
import { Batch, type Outcome } from '../batch.ts';
import type { Context } from '../context.ts';
import { runsFolder } from './prepare.ts';
import type { BulkProgress } from './progress.ts';
import { failureText, resultLine, summaryText } from './view.ts';

export interface RunningFlags {
  concurrency: number;
  reserve?: number | undefined;
  'max-requests'?: number | undefined;
  'stop-on-error'?: number | undefined;
}

/** What is left to the customer's other systems unless told otherwise. */
export const RESERVE = 0.1;
/** How long an outage is waited out before the run is left for a resume, in ms. */
const PATIENCE_MS = 10 * 60_000;

/** The client of a run: it leaves the reserve to others, and waits for as many rate windows as it takes. */
export function bulkClient(flags: RunningFlags, progress: BulkProgress, context: Context): Promise<Client> {
  return context.client({
    reserve: flags.reserve ?? RESERVE,
    maxWaitMs: Number.POSITIVE_INFINITY,
    // The run has a grace of its own, and a journal.
    graceMs: 0,
    onWait: ({ ms, error }) => progress.waitsFor(sentenceOf(error), ms),
  });
}

/**
 * Works on a run and reports each row as it is settled; then the run is closed.
 * @throws PartialError when rows failed, StoppedError when it ended before its rows did.
 */
export async function runToTheEnd(
  run: OpenRun,
  work: { client: Client; flags: RunningFlags; webhookSecret: string | undefined; progress: BulkProgress },
  context: Context,
): Promise<void> {
  const { progress, flags } = work;
  const batch = new Batch(context, { aside: (write) => progress.aside(write) });
  let ending: Ending;
  const { mode } = run.state.head;
  progress.start(run.state, (rows) => {
    const window = work.client.window?.reading();
    return timeByWindow(requestsFor(rows, mode), window, flags.reserve ?? RESERVE, context.clock.now()) ?? 0;
  });
  try {
    ending = await workOnRun(run, {
      client: work.client,
      concurrency: flags.concurrency,
      maxRequests: flags['max-requests'],
      stopOnError: flags['stop-on-error'],
      webhookSecret: work.webhookSecret,
      patienceMs: PATIENCE_MS,
      signal: context.signal,
      redact: (text) => context.redactor.redact(text),
      observer: {
        row: (result) => batch.report({ json: result, ...inWords(result, context) }),
        says: (text) => progress.says(text),
      },
    });
  } finally {
    progress.end();
    await run.close();
  }
  await conclude(run, ending, context);
}

function inWords(result: RowResult, { terminal }: Context): Pick<Outcome, 'text' | 'failure'> {
  return {
    text: terminal.outIsTty ? undefined : resultLine(result),
    failure: result.ok ? undefined : failureText(result),
  };
}

async function conclude({ state }: OpenRun, ending: Ending, context: Context): Promise<void> {
  const { id, total } = state.head;
  if (!context.json) context.terminal.err(summaryText(await detailsOf(runsFolder(), id)));
  const goOn = `Go on with it: \`esign bulk resume ${id}\`.`;
  if (ending.kind === 'interrupted') context.notice(`Interrupted; what was done is kept. ${goOn}`);
  if (ending.kind === 'stopped') throw stopped(ending.error, goOn);
  const failed = state.count('failed');
  if (ending.kind === 'finished' && failed > 0) {
    throw new PartialError(`${failed} of ${counted(total, 'row')} failed; each is reported above.`, {
      hint: `See them again: \`esign bulk show ${id}\`.`,
    });
  }
}

function stopped(error: Error, goOn: string): Error {
  if (!(error instanceof EsignError)) return error;
  const hint = error.hint === undefined ? goOn : `${error.hint}\n${goOn}`;
  return new StoppedError(error.code, `${sentenceOf(error)} The run has stopped; what was done is kept.`, {
    cause: error,
    hint,
  });
}

/** The run that is meant: the one named, or the latest with --last. */
export async function namedRun(id: string | undefined, last: boolean): Promise<string> {
  if ((id === undefined) === !last)
    throw new UsageError('Name one run, or take the latest with --last.', { hint: 'See `esign bulk list`.' });
  const found = id ?? (await lastRun(runsFolder()));
  if (found !== undefined) return found;
  throw new UsageError('There are no runs on this machine yet.', {
    hint: 'Start one: `esign bulk create FILE --template ID`.',
  });
}

/**
 * Opens a run to go on with it, with the profile it was begun with unless another one is named.
 * @throws UsageError when it was begun at another service, or the key sees another organisation.
 */
export async function reopenRun(
  id: string,
  client: () => Promise<Client>,
  context: Context,
): Promise<OpenRun> {
  preferLowMemory();
  const run = await openRun(runsFolder(), id);
  try {
    const { profile, baseUrl } = run.state.head;
    const settings = await context.settings(profile === null ? {} : { fallbackProfile: profile });
    if (settings.baseUrl !== undefined && settings.baseUrl.value !== baseUrl) {
      throw new UsageError(`${id} was started at ${baseUrl}, not at ${settings.baseUrl.value}.`, {
        hint: 'Name its profile with --profile.',
      });
    }
    await refuseOtherOrganisation(run, await client(), context);
    return run;
  } catch (error) {
    await run.close();
    throw error;
  }
}

/** With a key of another organisation nothing of the run would be found, and all of it be made again. */
async function refuseOtherOrganisation(run: OpenRun, client: Client, context: Context): Promise<void> {
  const { state } = run;
  const [row = 0] = [...state.rows('created'), ...state.rows('done')];
  const envelopeId = state.idOf(row);
  if (envelopeId === undefined) return;
  try {
    await client.envelopes.get(envelopeId, context.signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new UsageError(`This key does not see ${envelopeId}, which ${state.head.id} has made.`, {
      cause: error,
      hint: 'Use a key of the same organisation: `esign profiles list`.',
    });
  }
}
