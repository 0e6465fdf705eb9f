import type { RateReading } from '../../api/rate/rate-window.ts';
import type { RemainingWork } from '../../bulk/remaining-work.ts';
import { errorInWords, RESULT_COLUMNS, type RowResult, resultCells } from '../../bulk/results.ts';
import type { RunDetails, RunSummary } from '../../bulk/run-list.ts';
import type { RunState } from '../../bulk/run-state.ts';
import { counted, durationInWords, grouped } from '../../kernel/duration.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { writeJson } from '../../output/json.ts';
import type { ListView } from '../../output/list.ts';
import { indented, type TableColumn, withHangingIndent } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeBlock, safeLine } from '../../output/text.ts';
import { exactTime, relativeTime } from '../../output/time.ts';

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
  reserve: number;
}

const ACTIONS: Readonly<Record<string, string>> = {
  draft: 'kept as drafts',
  'two-step': 'created as drafts, then sent',
  'one-step': 'created and sent in one step',
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

function windowText({ window, rateLimitMs, reserve }: Preflight): string {
  if (window === undefined) return '.';
  const reserved =
    reserve > 0
      ? `; ${Math.round(reserve * 100)}% of ${grouped(window.limit)} is reserved for your other systems`
      : ` of ${grouped(window.limit)}`;
  const takes =
    rateLimitMs === undefined || rateLimitMs === 0
      ? 'they fit within the rate limit'
      : `at least ${durationInWords(rateLimitMs)} at the current rate limit`;
  return `; ${takes} (${grouped(window.free)} left${reserved}).`;
}

/** Prints the result of --dry-run. */
export function writePreflight(plan: Preflight, terminal: Terminal, json: boolean): Promise<void> {
  const { file, rows, signers, existing, mode, requests, example } = plan;
  if (json) {
    const send = mode !== 'draft';
    const { line, subject = null, message = null } = example ?? {};
    const first = { line, subject, message };
    return writeJson({ dryRun: true, file, rows, signers, existing, send, requests, first }, terminal);
  }
  return terminal.out(
    `${preflightText(plan, terminal)}${exampleText(plan)}Check complete. Nothing was sent.\n`,
  );
}

/** Returns what a resume would do. */
export function remainingText({ head, waves }: RunState, rest: RemainingWork): string {
  const { wave, rows, signers, requests } = rest;
  if (rows === 0) return `${head.id}: nothing to do.\n`;
  const how = (rows === 1 ? ACTIONS_FOR_ONE : ACTIONS)[head.mode];
  const where = wave === null ? '' : ` in wave ${wave} of ${waves?.ends.length ?? wave}`;
  return `${head.id}: ${counted(rows, 'envelope')} for ${counted(signers, 'signer')}${where}, ${how}.\n${counted(requests, 'request')}.\n`;
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

/** Returns a row with a known outcome as tab-separated fields for a pipe: row, request ID, envelope ID, status, error. */
export function resultLine(result: RowResult): string {
  return `${resultCells(result).map(safeLine).join('\t')}\n`;
}

/** Returns a failed row as a line for people: `people.csv:2  ada@example.com (Ada): …`. */
export function failureLine(file: string, { row, line, signers = [], error }: RowResult): string {
  const where = line === undefined ? `row ${row}` : `${file}:${line}`;
  const who = signers.map(({ email, name }) =>
    name === email || name === '' ? email : `${email} (${name})`,
  );
  return safeLine(`${where}${who.length > 0 ? `  ${who.join(', ')}` : ''}: ${errorInWords(error)}`);
}

/** Returns a summary of a run's outcome. */
export function summaryText(run: RunDetails): string {
  const verb = run.mode === 'draft' ? 'created' : 'sent';
  const missing = run.total - run.done - run.failed - run.existing;
  const parts = [
    `${counted(run.done, 'envelope')} ${verb}`,
    ...(run.failed > 0 ? [`${grouped(run.failed)} failed`] : []),
    ...(run.existing > 0 ? [`${grouped(run.existing)} already existed`] : []),
    ...(missing > 0 ? [`${grouped(missing)} remaining`] : []),
  ];
  return `${parts.join(', ')}. Results for each row: ${safeLine(run.results)}\n`;
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
    columns: [id, state, ...counts, createdAt, file, numberColumn('existing')],
    // The ID contains the time, so the time column is dropped first.
    shown: [id, state, ...counts, file, createdAt],
  };
}

function numberColumn(key: 'done' | 'failed' | 'total' | 'existing'): TableColumn<RunSummary> {
  return { key, show: (run) => grouped(run[key]), fixed: true };
}

function stateColor(run: RunSummary): 'green' | 'yellow' | 'cyan' {
  if (run.state === 'finished') return 'green';
  return run.state === 'running' ? 'cyan' : 'yellow';
}

/** Returns a run as text: its state, its failed rows, and the next command. */
export function renderRun(run: RunDetails, failures: readonly RowResult[], terminal: Terminal): string {
  const open = [
    run.drafts > 0 ? `${counted(run.drafts, 'draft')} to send` : '',
    run.unknown > 0 ? `${grouped(run.unknown)} with unknown outcome` : '',
  ].filter((part) => part !== '');
  const counts = [
    `${grouped(run.done)} of ${grouped(run.total)} done`,
    `${grouped(run.failed)} failed`,
    ...(run.existing > 0 ? [`${grouped(run.existing)} already existed`] : []),
    ...open,
  ].join(', ');
  const lines = [
    withHangingIndent(
      `${terminal.style('bold', run.id)}: ${terminal.style(stateColor(run), run.state)},`,
      counts,
      terminal,
    ),
    indented(
      safeLine(`${run.file}, ${ACTIONS[run.mode] ?? run.mode}, started ${exactTime(run.createdAt)}`),
      2,
      terminal,
    ),
    ...(run.waves === null
      ? []
      : [
          `  Wave ${run.waves.current} of ${run.waves.sizes.length}; rows per wave: ${run.waves.sizes.map(grouped).join(', ')}`,
        ]),
    ...run.seconds.map(
      ({ row, id, status }) => `  ${safeLine(`row ${row} has a second envelope: ${id} (${status})`)}`,
    ),
    ...failures.map((result) => `  ${indented(failureLine(run.file, result), 4, terminal)}`),
  ];
  if (run.state === 'interrupted')
    lines.push(terminal.style('dim', `Resume:  ${command('bulk', 'resume', run.id)}`));
  return `${lines.join('\n')}\n`;
}

/** The list view of a run's results, for CSV or --fields. */
export const resultList: ListView<RowResult> = {
  id: (result) => result.envelopeId ?? '',
  empty: 'The run has no rows.',
  columns: RESULT_COLUMNS.map((key, index) => ({ key, value: (result) => resultCells(result)[index] ?? '' })),
};
