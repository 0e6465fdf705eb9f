import type { RateReading } from '../../api/rate-window.ts';
import { errorInWords, RESULT_COLUMNS, type RowResult, resultCells } from '../../bulk/results.ts';
import type { RunDetails, RunSummary } from '../../bulk/run-list.ts';
import { counted, durationInWords, grouped } from '../../kernel/duration.ts';
import { writeJson } from '../../output/json.ts';
import type { ListView } from '../../output/list.ts';
import { behind, indented } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';
import { exactTime, relativeTime } from '../../output/time.ts';

/** What a run will do, as its preflight tells. */
export interface Preflight {
  file: string;
  rows: number;
  signers: number;
  templates: readonly string[];
  mode: string;
  requests: number;
  window: RateReading | undefined;
  /** By the rate window alone, in ms; undefined where none is known. */
  time: number | undefined;
  reserve: number;
}

const HOW: Readonly<Record<string, string>> = {
  draft: 'made as drafts',
  'two-step': 'made as drafts, then sent',
  'one-step': 'created and sent at once',
};
const TEMPLATES_SHOWN = 3;

/** What a run will do, before anybody is asked. */
export function preflightText(plan: Preflight, terminal: Terminal): string {
  const { templates } = plan;
  const shown = templates.slice(0, TEMPLATES_SHOWN).join(', ');
  const more = templates.length > TEMPLATES_SHOWN ? ` and ${templates.length - TEMPLATES_SHOWN} more` : '';
  const lines = [
    `${plan.file}: ${counted(plan.rows, 'envelope')} for ${counted(plan.signers, 'signer')} from ${shown}${more}, ${HOW[plan.mode] ?? plan.mode}.`,
    `${counted(plan.requests, 'request')}${windowText(plan)}`,
  ];
  return lines.map((line) => `${indented(safeLine(line), 0, terminal)}\n`).join('');
}

function windowText({ window, time, reserve }: Preflight): string {
  if (window === undefined) return '.';
  const kept = reserve > 0 ? `, ${Math.round(reserve * 100)}% of it kept for your other systems` : '';
  const takes =
    time === undefined || time === 0
      ? 'one rate window holds them'
      : `at least ${durationInWords(time)} by the rate window`;
  return `; ${takes} (${grouped(window.free)} of ${grouped(window.limit)} free now${kept}).`;
}

/** What --dry-run prints. */
export function writePreflight(plan: Preflight, terminal: Terminal, json: boolean): Promise<void> {
  const { file, rows, signers, mode, requests } = plan;
  if (json)
    return writeJson({ dryRun: true, file, rows, signers, send: mode !== 'draft', requests }, terminal);
  return terminal.out(`${preflightText(plan, terminal)}Checked; nothing was sent.\n`);
}

/** How far a run is. */
export interface Progress {
  total: number;
  done: number;
  failed: number;
  /** Settled by this process, in so many ms. */
  settled: number;
  ms: number;
  sends: boolean;
  /** How long the rate window makes the rest take, in ms. */
  byWindow: number;
  /** What it waits for, and until when (ms since the epoch). */
  waiting: { why: string; until: number } | undefined;
}

/** The line that shows how a run gets on. */
export function progressText(progress: Progress, now: number): string {
  const { total, done, failed, settled, ms, sends, waiting } = progress;
  const perSecond = settled / Math.max(0.001, ms / 1_000);
  const left = total - done - failed;
  const parts = [`${grouped(done)} of ${grouped(total)} ${sends ? 'sent' : 'created'}`];
  if (failed > 0) parts.push(`${grouped(failed)} failed`);
  if (settled > 0) parts.push(`${perSecond < 10 ? perSecond.toFixed(1) : grouped(Math.round(perSecond))}/s`);
  if (waiting !== undefined && waiting.until > now)
    parts.push(`${waiting.why} Going on in ${durationInWords(waiting.until - now)}.`);
  else if (settled > 0 && left > 0)
    parts.push(`${durationInWords(Math.max((left / perSecond) * 1_000, progress.byWindow))} left`);
  return safeLine(parts.join('  '));
}

/** A settled row in a pipe: row, request id, envelope id, status, error, tab-separated. */
export function resultLine(result: RowResult): string {
  return `${resultCells(result).map(safeLine).join('\t')}\n`;
}

/** A failed row for the person who watches. */
export function failureText(result: RowResult): string {
  return `row ${result.row}: ${safeLine(errorInWords(result.error))}\n`;
}

/** What came of a run. */
export function summaryText(run: RunDetails): string {
  const verb = run.mode === 'draft' ? 'created' : 'sent';
  const failed = run.failed > 0 ? `, ${grouped(run.failed)} failed` : '';
  const missing = run.total - run.done - run.failed;
  const open = missing > 0 ? `, ${grouped(missing)} still to do` : '';
  return `${counted(run.done, 'envelope')} ${verb}${failed}${open}. Each row: ${safeLine(run.results)}\n`;
}

/** The runs of this machine. */
export function runList(now: number): ListView<RunSummary> {
  return {
    id: (run) => run.id,
    empty: 'No runs yet. Start one: esign bulk create FILE --template ID --send',
    columns: [
      { key: 'id', header: 'RUN', value: (run) => run.id, fixed: true },
      { key: 'state', header: 'STATE', value: (run) => run.state, fixed: true, colour: stateColour },
      { key: 'done', header: 'DONE', value: (run) => String(run.done) },
      { key: 'failed', header: 'FAILED', value: (run) => String(run.failed) },
      { key: 'total', header: 'TOTAL', value: (run) => String(run.total) },
      {
        key: 'createdAt',
        header: 'CREATED',
        value: (run) => run.createdAt,
        show: (run) => relativeTime(run.createdAt, now),
      },
      { key: 'file', header: 'FILE', value: (run) => run.file },
    ],
  };
}

function stateColour(run: RunSummary): 'green' | 'yellow' | 'cyan' {
  if (run.state === 'finished') return 'green';
  return run.state === 'running' ? 'cyan' : 'yellow';
}

/** One run: where it stands, what failed, and the next command. */
export function renderRun(run: RunDetails, failures: readonly RowResult[], terminal: Terminal): string {
  const open = [
    run.drafts > 0 ? `${counted(run.drafts, 'draft')} to send` : '',
    run.unknown > 0 ? `${grouped(run.unknown)} to look for` : '',
  ].filter((part) => part !== '');
  const counts = [
    `${grouped(run.done)} of ${grouped(run.total)} done`,
    `${grouped(run.failed)} failed`,
    ...open,
  ].join(', ');
  const lines = [
    behind(
      `${terminal.style('bold', run.id)}: ${terminal.style(stateColour(run), run.state)},`,
      counts,
      terminal,
    ),
    indented(
      safeLine(`${run.file}, ${HOW[run.mode] ?? run.mode}, started ${exactTime(run.createdAt)}`),
      2,
      terminal,
    ),
    ...failures.map(
      (result) =>
        `  ${indented(safeLine(`row ${result.row} (${result.requestId ?? ''}): ${errorInWords(result.error)}`), 4, terminal)}`,
    ),
  ];
  if (run.state === 'interrupted') lines.push(terminal.style('dim', `Go on:  esign bulk resume ${run.id}`));
  return `${lines.join('\n')}\n`;
}

/** The results of a run as a list: CSV, or what --fields wants. */
export const resultList: ListView<RowResult> = {
  id: (result) => result.envelopeId ?? '',
  empty: 'The run has no rows.',
  columns: RESULT_COLUMNS.map((key, index) => ({
    key,
    header: key.toUpperCase(),
    value: (result) => resultCells(result)[index] ?? '',
  })),
};
