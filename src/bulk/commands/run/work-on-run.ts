import { existsSync } from 'node:fs';
import type { Client } from '../../../api/client.ts';
import { RESERVE } from '../../../api/rate-window.ts';
import type { RunEnd } from '../../../api/write-gate.ts';
import { Batch } from '../../../cli/batch.ts';
import { reportOf } from '../../../cli/error-report.ts';
import { readWebhookSecret } from '../../../cli/input/secrets.ts';
import type { Context } from '../../../cli/session/context.ts';
import type { CommandTerminal } from '../../../cli/terminal.ts';
import { counted, grouped } from '../../../kernel/duration.ts';
import { EsignError, JournalError, PartialError, StoppedError, sentenceOf } from '../../../kernel/errors.ts';
import { isAmbiguous } from '../../../kernel/request-failures.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import type { KnownEnvelopes } from '../../../once/process-requests.ts';
import { errColumns } from '../../../output/terminal.ts';
import { paragraph } from '../../../output/text.ts';
import { type RowResult, resultAsJson, rowResultsOf } from '../../../runs/results.ts';
import type { RunState } from '../../../runs/run-state.ts';
import type { OpenRun } from '../../../runs/runs.ts';
import { type RunArguments, shortArgumentsOfRun } from '../../../selection/selected-run.ts';
import { requestsForRows, timeForRequests } from '../../estimate.ts';
import { processRun, type RunEnding } from '../../run.ts';
import type { RunOptions } from '../../run-session.ts';
import { reportedRow } from '../row-text.ts';
import { BulkProgress } from './bulk-progress.ts';
import { nextCommandsText, resumeCommand } from './next-commands.ts';

/** Maximum number of concurrent requests. */
const CONCURRENCY = 16;

/** What the commands that work on a run share. */
export interface RunTools {
  /** Returns the client, which is created at the first call. It leaves the reserve to others and waits for rate windows. */
  client(): Promise<Client>;
  progress: BulkProgress;
  /** The secret for rows with a webhook URL. */
  webhookSecret: string | undefined;
}

export async function createRunTools(
  flags: { 'webhook-secret-file'?: string | undefined },
  context: Context,
): Promise<RunTools> {
  const progress = new BulkProgress(context);
  let client: Promise<Client> | undefined;
  return {
    progress,
    webhookSecret: await readWebhookSecret(flags['webhook-secret-file'], context.terminal),
    client: () =>
      (client ??= context.session.client({
        reserve: RESERVE,
        maxWaitMs: Number.POSITIVE_INFINITY,
        // The run has its own grace period and journal.
        graceMs: 0,
        onWait: ({ ms, error }) => progress.waitsFor(sentenceOf(error), ms),
      })),
  };
}

/**
 * Works on a run, reports each row when its outcome is known, and closes the run. `look`: what a new run has found in the list.
 * @throws PartialError if rows failed, StoppedError if the run stopped before every outcome was known.
 */
export async function workOnRun(
  run: OpenRun,
  means: RunTools,
  context: Context,
  look?: KnownEnvelopes,
): Promise<void> {
  const { progress, webhookSecret } = means;
  const client = await means.client();
  const batch = new Batch(context, { aside: (write) => progress.aside(write) });
  let ending: RunEnding | undefined;
  const { id, mode } = run.state.head;
  const endInLog = (await client.writes()).beginRun({ id, sends: mode !== 'draft' });
  const before = new Set([...run.state.rows('done'), ...run.state.rows('failed')]);
  const drafts = new Set(run.state.rows('reserved'));
  await progress.start(run.state, (rows) => {
    const window = client.window?.reading();
    return timeForRequests(requestsForRows(rows, mode), window, context.session.clock.now()) ?? 0;
  });
  const { file } = run.state.head;
  let duplicates = 0;
  const report = (result: RowResult) => {
    if (result.error?.code === 'SECOND_ENVELOPE') duplicates++;
    return batch.report({ json: resultAsJson(result), ...reportedRow(file, result, context.terminal) });
  };
  const wasFinished = run.state.finishedAt !== undefined;
  if (wasFinished) context.terminal.notice(`${id} is already finished. Nothing more was sent.`);
  try {
    if (!run.resumed) await reportKnown(run, 'existing', report);
    if (!run.resumed || wasFinished) await reportKnown(run, 'failed', report);
    const options: RunOptions = {
      client,
      concurrency: CONCURRENCY,
      webhookSecret,
      signal: context.interrupt.signal,
      redact: (text) => context.terminal.redactor.redact(text),
      observer: {
        row: report,
        waits: (why, msLeft) => progress.waits(why, msLeft),
        notice: (text) => progress.notice(text),
      },
    };
    ending = await processRun(run, options, look);
  } finally {
    progress.end();
    await endInLog(runEndOf(run.state, { finished: before, drafts }, ending));
    await run.close();
  }
  const words = await shortArgumentsOfRun(id, context);
  reportEnding(run, ending, { before, duplicates, words }, context.terminal);
}

/** Returns the end of this process's entry in the log. Rows that were finished before, and drafts, belong to earlier entries. */
function runEndOf(
  state: RunState,
  before: { finished: ReadonlySet<number>; drafts: ReadonlySet<number> },
  ending: RunEnding | undefined,
): RunEnd {
  const own = (kind: 'done' | 'failed') => [...state.rows(kind)].filter((row) => !before.finished.has(row));
  const [done, failed] = [own('done'), own('failed')];
  const created = [...state.rows('reserved'), ...done].filter((row) => !before.drafts.has(row));
  const [firstFailed = 0] = failed;
  const stop = ending?.kind === 'stopped' ? reportOf(ending.error).code : null;
  const isCut = ending === undefined || ending.kind === 'interrupted';
  const isUnknown = ending === undefined || (ending.kind === 'stopped' && isAmbiguous(ending.error));
  return {
    outcome: isUnknown ? 'unknown' : created.length + done.length === 0 ? 'refused' : 'done',
    error: stop ?? (isCut ? 'INTERRUPTED' : (state.errorOf(firstFailed)?.code ?? null)),
    counts: {
      rows: state.head.total,
      created: created.length,
      sent: state.head.mode === 'draft' ? 0 : done.length,
      failed: failed.length,
    },
  };
}

/** Reports rows that this process does not work on: those that existed before the run, or those that failed in a finished one. */
async function reportKnown(
  { state, files }: OpenRun,
  kind: 'existing' | 'failed',
  report: (result: RowResult) => Promise<void>,
): Promise<void> {
  if (state.count(kind) === 0) return;
  for await (const result of rowResultsOf(state, files))
    if (state.of(result.row) === kind) await report(result);
}

/** Reports how the work ended. Rows that were finished `before` belong to earlier processes. `duplicates`: number of second envelopes. */
function reportEnding(
  { state, files }: OpenRun,
  ending: RunEnding,
  { before, duplicates, words }: { before: ReadonlySet<number>; duplicates: number; words: RunArguments },
  terminal: CommandTerminal,
): void {
  const { id } = state.head;
  const isCounted = ending.kind !== 'stopped' || !(ending.error instanceof JournalError);
  if (!terminal.json && isCounted) terminal.err(endingText(state, words, terminal));
  const resume = `Resume it: \`${resumeCommand(state, words, terminal)}\`.`;
  if (ending.kind === 'interrupted') terminal.notice(`Interrupted. ${emailedInWords(state)} ${resume}`);
  if (ending.kind === 'stopped' && !existsSync(files.journal)) throw journalGone(ending.error, id);
  if (ending.kind === 'stopped') throw stopped(ending.error, id, resume);
  if (ending.kind === 'interrupted') return;
  const failed = [...state.rows('failed')].filter((row) => ending.kind === 'finished' || !before.has(row));
  reportProblems(state, { failed: failed.length, duplicates }, words);
}

/** Returns whether anyone was emailed yet. */
function emailedInWords(state: RunState): string {
  const isSilent = state.head.mode !== 'draft' && state.count('done') === 0;
  return isSilent ? 'Nobody was emailed yet. Progress is saved.' : 'Progress is saved.';
}

/** Returns the outcome of a run's rows so far, and the commands that usually follow. */
function endingText(state: RunState, words: RunArguments, terminal: CommandTerminal): string {
  const { id, mode, total } = state.head;
  const left = total - state.finishedCount;
  const done = state.count('done');
  const repeated = state.repeatedCount;
  const existing = state.count('existing') - repeated;
  const parts = [
    `${counted(done, 'envelope')} ${mode === 'draft' ? 'created' : 'sent'}`,
    ...(state.count('failed') > 0 ? [`${grouped(state.count('failed'))} failed`] : []),
    ...(existing > 0 ? [`${grouped(existing)} already existed`] : []),
    ...(repeated > 0 ? [`${counted(repeated, 'row')} repeated`] : []),
    ...(left > 0 ? [`${grouped(left)} remaining`] : []),
  ];
  const summary = `${paragraph(`${parts.join(', ')}. ${id}${state.isPaused ? ' is paused' : ''}.`, errColumns())}\n`;
  const hasNext = state.isPaused || (left === 0 && done > 0);
  return hasNext ? summary + nextCommandsText(state, words, terminal) : summary;
}

/** @throws PartialError when rows failed, or second envelopes were found. */
function reportProblems(
  { head, isPaused }: RunState,
  { failed, duplicates }: { failed: number; duplicates: number },
  words: RunArguments,
): void {
  const { id, file, total } = head;
  const messages = [
    ...(failed > 0 ? [`${grouped(failed)} of ${counted(total, 'row')} failed`] : []),
    ...(duplicates > 0
      ? [`${counted(duplicates, 'duplicate envelope')} ${duplicates === 1 ? 'was' : 'were'} found`]
      : []),
  ];
  if (messages.length === 0) return;
  const hint =
    failed > 0
      ? `Fix ${failed === 1 ? 'that row' : 'those rows'} in ${file} and run the same command again${isPaused ? ' after the last row' : ''}: rows that were already sent are skipped.`
      : `To see both envelopes, run \`${command('bulk', 'status', ...words.argument, '--all')}\`. Keep one and cancel the other.`;
  throw new PartialError(`${messages.join('; ')}. The errors are shown above.`, { hint, run: id });
}

function stopped(error: Error, run: string, resume: string): Error {
  if (!(error instanceof EsignError)) return error;
  const hint = error.hint === undefined ? resume : `${error.hint}\n${resume}`;
  const saved =
    error instanceof JournalError
      ? 'What was sent before is found when it is resumed.'
      : 'Progress is saved.';
  return new StoppedError(error.code, `${sentenceOf(error)} The run has stopped. ${saved}`, {
    cause: error,
    hint,
    run,
  });
}

/** Returns the error for a run whose journal was deleted while the run was in progress. */
function journalGone(error: Error, id: string): StoppedError {
  return new StoppedError('JOURNAL', `${sentenceOf(error)} The run has stopped and can't be resumed.`, {
    cause: error,
    run: id,
    hint: `To see its envelopes, run \`${command('envelopes', 'list', '--run', id)}\`. To send the other rows, wait a minute, cancel its drafts, and send the list of \`esign bulk roster FILE --template ID --missing\`.`,
  });
}
