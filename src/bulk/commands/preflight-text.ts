import { RESERVE } from '../../api/limits.ts';
import type { RateReading } from '../../api/rate-window.ts';
import type { ItemResult } from '../../cli/batch.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted, durationInWords, grouped } from '../../kernel/duration.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { writeJson } from '../../output/json.ts';
import type { ListView } from '../../output/print-list.ts';
import { indented, renderPairs, type TableColumn } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeBlock, safeLine } from '../../output/text.ts';
import { relativeTime } from '../../output/time.ts';
import type { RemainingWork } from '../remaining-work.ts';
import { errorInWords, RESULT_COLUMNS, type RowResult, resultCells } from '../results.ts';
import type { RunSummary } from '../run-list.ts';
import type { RunState } from '../run-state.ts';

/** The preview of a run, shown before it starts. */
export interface Preflight {
  file: string;
  /** Rows and signers that need work. */
  rows: number;
  signers: number;
  /** Rows that are skipped because an earlier run created their envelope. */
  existing: number;
  templates: readonly string[];
  /** The email of the first row. */
  example: { line: number; subject: string | undefined; message: string | undefined } | undefined;
  mode: string;
  requests: number;
  window: RateReading | undefined;
  /** The time that the rate window alone requires, in ms; undefined if no window is known. */
  rateLimitMs: number | undefined;
}

const ACTIONS: Readonly<Record<string, string>> = {
  draft: 'kept as drafts',
  'two-step': 'created as drafts, then sent',
};
const ACTIONS_FOR_ONE: Readonly<Record<string, string>> = {
  ...ACTIONS,
  draft: 'kept as a draft',
  'two-step': 'created as a draft, then sent',
};
const MAX_TEMPLATES = 3;

/** Returns what a run will do, to show before the confirmation prompt. */
export function preflightText(plan: Preflight, terminal: Terminal): string {
  const { templates } = plan;
  const shown = templates.slice(0, MAX_TEMPLATES).join(', ');
  const more = templates.length > MAX_TEMPLATES ? ` and ${templates.length - MAX_TEMPLATES} more` : '';
  if (plan.rows === 0) return `${safeLine(plan.file)}: nothing to do.\n`;
  const how = (plan.rows === 1 ? ACTIONS_FOR_ONE : ACTIONS)[plan.mode] ?? plan.mode;
  const lines = [
    `${plan.file}: ${counted(plan.rows, 'envelope')} for ${counted(plan.signers, 'signer')} from ${shown}${more}, ${how}.`,
    `${counted(plan.requests, 'request')}${windowText(plan)}`,
  ];
  return lines.map((line) => `${indented(safeLine(line), 0, terminal)}\n`).join('');
}

function windowText({ window, rateLimitMs }: Preflight): string {
  if (window === undefined) return '.';
  const takes =
    rateLimitMs === undefined || rateLimitMs === 0
      ? 'they fit within the rate limit'
      : `at least ${durationInWords(rateLimitMs)} at the current rate limit`;
  const reserved = `${Math.round(RESERVE * 100)}% of ${grouped(window.limit)} is left for your other systems`;
  return `; ${takes} (${grouped(window.free)} left; ${reserved}).`;
}

/** Prints the result of --dry-run. */
export function writePreflight(plan: Preflight, terminal: Terminal, json: boolean): Promise<void> {
  const { file, rows, signers, existing, mode, requests, example } = plan;
  if (json) {
    const send = mode !== 'draft';
    const { line = null, subject = null, message = null } = example ?? {};
    const first = { line, subject, message };
    return writeJson({ dryRun: true, file, rows, signers, existing, send, requests, first }, terminal);
  }
  return terminal.out(
    `${preflightText(plan, terminal)}${exampleText(plan)}Check complete. Nothing was sent.\n`,
  );
}

/** Returns what a resume would do. */
export function remainingText({ head }: RunState, { rows, signers, requests }: RemainingWork): string {
  if (rows === 0) return `${head.id}: nothing to do.\n`;
  const how = (rows === 1 ? ACTIONS_FOR_ONE : ACTIONS)[head.mode];
  return `${head.id}: ${counted(rows, 'envelope')} for ${counted(signers, 'signer')}, ${how}.\n${counted(requests, 'request')}.\n`;
}

function exampleText({ example }: Preflight): string {
  if (example?.subject === undefined && example?.message === undefined) return '';
  const subject = example.subject === undefined ? [] : [`Subject: ${safeLine(example.subject)}`];
  const message = example.message === undefined ? [] : [safeBlock(example.message)];
  return `\nEmail for line ${example.line}:\n${[...subject, ...message].join('\n').replaceAll(/^/gm, '  ')}\n\n`;
}

export interface RunProgress {
  total: number;
  done: number;
  failed: number;
  /** Number of rows that this process finished in `elapsedMs`. */
  finishedNow: number;
  elapsedMs: number;
  sends: boolean;
  /** How long the remaining rows take because of the rate window, in ms. */
  rateLimitMs: number;
  /** The reason for a wait, and its end (ms since the epoch). */
  waiting: { why: string; until: number } | undefined;
}

/** Returns the line that shows a run's progress. */
export function progressText(progress: RunProgress, now: number): string {
  const { total, done, failed, finishedNow, elapsedMs, sends, waiting } = progress;
  const perSecond = finishedNow / Math.max(0.001, elapsedMs / 1_000);
  const left = total - done - failed;
  const parts = [`${grouped(done)} of ${grouped(total)} ${sends ? 'sent' : 'created'}`];
  if (failed > 0) parts.push(`${grouped(failed)} failed`);
  if (finishedNow > 0)
    parts.push(`${perSecond < 10 ? perSecond.toFixed(1) : grouped(Math.round(perSecond))}/s`);
  if (waiting !== undefined && waiting.until > now)
    parts.push(`${waiting.why} Resuming in ${durationInWords(waiting.until - now)}.`);
  else if (finishedNow > 0 && left > 0)
    parts.push(`${durationInWords(Math.max((left / perSecond) * 1_000, progress.rateLimitMs))} left`);
  return safeLine(parts.join('  '));
}

/** Returns how a row is reported: as a line in a pipe, and on a terminal only if it failed. */
export function rowInWords(
  file: string,
  result: RowResult,
  terminal: CommandTerminal,
): Pick<ItemResult, 'text' | 'failure'> {
  return {
    text: terminal.outIsTty ? undefined : resultLine(result),
    failure: result.ok ? undefined : `${failureLine(file, result)}\n`,
  };
}

/** Returns a row with a known outcome as tab-separated fields for a pipe: row, request ID, envelope ID, status, error. */
function resultLine(result: RowResult): string {
  return `${resultCells(result).map(safeLine).join('\t')}\n`;
}

/** Returns a failed row as a line for people: `people.csv:2  ada@example.com (Ada): …`. */
function failureLine(file: string, { row, line, signers = [], error }: RowResult): string {
  const where = line === null ? `row ${row}` : `${file}:${line}`;
  const who = signers.map(({ email, name }) =>
    name === email || name === '' ? email : `${email} (${name})`,
  );
  return safeLine(`${where}${who.length > 0 ? `  ${who.join(', ')}` : ''}: ${errorInWords(error)}`);
}

/** Returns the outcome of a run's rows so far, and the commands that usually follow. */
export function endingText(state: RunState, terminal: Terminal): string {
  const { id, file, mode, total } = state.head;
  const counts = {
    done: state.count('done'),
    failed: state.count('failed'),
    existing: state.count('existing'),
    left: total - state.finishedCount,
  };
  const parts = [
    `${counted(counts.done, 'envelope')} ${mode === 'draft' ? 'created' : 'sent'}`,
    ...(counts.failed > 0 ? [`${grouped(counts.failed)} failed`] : []),
    ...(counts.existing > 0 ? [`${grouped(counts.existing)} already existed`] : []),
    ...(counts.left > 0 ? [`${grouped(counts.left)} remaining`] : []),
  ];
  const how = state.isPaused ? ` ${id} is paused.` : '';
  const next = state.isPaused ? nextInPause(id, terminal) : nextAfter(id, file, mode);
  const isDone = state.isPaused || (counts.left === 0 && counts.done > 0);
  const summary = `${parts.join(', ')}.${how}\n`;
  return isDone ? `${summary}${renderPairs(next, terminal, '  ')}` : summary;
}

/** Returns the command that continues a run, ready to run here: where it can't ask, it says `--yes`. */
export function resumeCommand(id: string, terminal: Terminal, ...flags: readonly string[]): string {
  return command('bulk', 'resume', id, ...flags, ...(terminal.canAsk ? [] : ['--yes']));
}

type Pairs = [label: string, text: string][];

function nextInPause(id: string, terminal: Terminal): Pairs {
  return [
    ['See who has signed', command('bulk', 'status', id)],
    ['Send the next 200', resumeCommand(id, terminal, '--first', '200')],
    ['Send the rest', resumeCommand(id, terminal)],
    ['End the run', command('envelopes', 'cancel', '--run', id)],
  ];
}

function nextAfter(id: string, file: string, mode: string): Pairs {
  if (mode === 'draft')
    return [
      ['Send the drafts', command('envelopes', 'send', '--run', id)],
      ['Cancel them', command('envelopes', 'cancel', '--run', id)],
    ];
  return [
    ['See who has signed', command('bulk', 'status', id)],
    ['Add it to your file', command('bulk', 'export', id, '--into', file, '-o', 'status.csv')],
    ['Remind', command('envelopes', 'remind', '--run', id)],
    ['Take back', command('envelopes', 'cancel', '--run', id)],
  ];
}

/** Returns the list view of the runs on this machine. */
export function runList(now: number): ListView<RunSummary> {
  const id: TableColumn<RunSummary> = { key: 'id', header: 'RUN', fixed: true };
  const state: TableColumn<RunSummary> = { key: 'state', fixed: true, color: stateColor };
  const file: TableColumn<RunSummary> = { key: 'file', least: 12 };
  const createdAt: TableColumn<RunSummary> = {
    key: 'createdAt',
    header: 'CREATED',
    show: (run) => relativeTime(run.createdAt, now),
    extra: true,
  };
  const counts = [numberColumn('done'), numberColumn('failed'), numberColumn('total')];
  return {
    id: (run) => run.id,
    empty: 'No runs yet. Start one: esign bulk create FILE --template ID --send',
    columns: [id, state, ...counts, createdAt, file],
    // The ID contains the time, so the time column is dropped first.
    shown: [id, state, ...counts, file, createdAt],
  };
}

function numberColumn(key: 'done' | 'failed' | 'total'): TableColumn<RunSummary> {
  return { key, show: (run) => grouped(run[key]), fixed: true };
}

export function stateColor(run: Pick<RunSummary, 'state'>): 'green' | 'yellow' | 'cyan' | 'dim' {
  if (run.state === 'finished') return 'green';
  if (run.state === 'cancelled') return 'dim';
  return run.state === 'running' ? 'cyan' : 'yellow';
}

/** The list view of a run's results, for CSV or --fields. */
export const resultList: ListView<RowResult> = {
  id: (result) => result.envelopeId ?? '',
  empty: 'The run has no rows.',
  columns: RESULT_COLUMNS.map((key, index) => ({ key, value: (result) => resultCells(result)[index] ?? '' })),
};
