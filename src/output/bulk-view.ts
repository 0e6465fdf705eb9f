import type { RateReading } from '../api/rate-window.ts';
import type { RowResult } from '../bulk/run.ts';
import type { RunHead, RunState } from '../bulk/run-journal.ts';
import type { RunSummary } from '../bulk/store.ts';
import { counted, durationInWords, grouped } from '../kernel/duration.ts';
import type { ListView } from './list.ts';
import type { Terminal } from './terminal.ts';
import { safeLine } from './text.ts';
import { relativeTime } from './time.ts';

/** What a run will do, before anybody is asked. */
export function preflightText(head: RunHead, window: RateReading | undefined): string {
  const requests = head.rows * (head.send && !head.oneStep ? 2 : 1);
  const windows =
    window === undefined || window.free === 0 ? 0 : Math.ceil(requests / Math.max(1, window.free)) - 1;
  const pace = windows > 0 ? `, over ${counted(windows + 1, 'rate window')}` : '';
  const how = head.send ? (head.oneStep ? 'sent at once' : 'made as drafts, then sent') : 'made as drafts';
  return `${safeLine(head.file)}: ${counted(head.rows, 'envelope')} for ${counted(head.signers, 'signer')}, ${how}; ${counted(requests, 'request')}${pace}.\n`;
}

/** The line that shows how a run gets on; on a terminal only. */
export class BulkProgress {
  readonly #head: RunHead;
  readonly #state: RunState;
  readonly #terminal: Terminal;
  readonly #live: boolean;
  readonly #startedAt = performance.now();
  readonly #before: number;
  #shownAt = 0;

  constructor(head: RunHead, state: RunState, terminal: Terminal, json: boolean) {
    this.#head = head;
    this.#state = state;
    this.#terminal = terminal;
    this.#live = terminal.errIsTty && !json && Boolean(process.stderr.columns);
    this.#before = state.done + state.failed;
  }

  /** Draws the line anew, a few times a second at most. */
  show(): void {
    const now = performance.now();
    if (!this.#live || now - this.#shownAt < 100) return;
    this.#shownAt = now;
    this.#terminal.err(`\r\u001b[2K${this.#line(now).slice(0, process.stderr.columns - 1)}`);
  }

  /** A sentence for the person who watches. */
  say(text: string): void {
    this.end();
    this.#terminal.err(`${safeLine(text)}\n`);
  }

  /** Takes the line off the screen. */
  end(): void {
    if (this.#live) this.#terminal.err('\r\u001b[2K');
  }

  #line(now: number): string {
    const { done, failed } = this.#state;
    const settled = done + failed - this.#before;
    const perSecond = settled / Math.max(0.001, (now - this.#startedAt) / 1_000);
    const left = this.#head.rows - done - failed;
    const time = settled > 0 && left > 0 ? `  ${durationInWords((left / perSecond) * 1_000)} left` : '';
    const problems = failed > 0 ? `  ${grouped(failed)} failed` : '';
    return `${grouped(done)} of ${grouped(this.#head.rows)} ${this.#head.send ? 'sent' : 'created'}${problems}  ${Math.round(perSecond)}/s${time}`;
  }
}

/** What came of a run. */
export function summaryText(head: RunHead, state: RunState, resultsPath: string): string {
  const verb = head.send ? 'sent' : 'created';
  const failed = state.failed > 0 ? `, ${grouped(state.failed)} failed` : '';
  return `${counted(state.done, 'envelope')} ${verb}${failed}. Each row: ${resultsPath}\n`;
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
export function renderRun(summary: RunSummary, failures: readonly RowResult[], terminal: Terminal): string {
  const lines = [
    `${terminal.style('bold', summary.id)}: ${terminal.style(stateColour(summary), summary.state)}, ${grouped(summary.done)} of ${grouped(summary.total)} done, ${grouped(summary.failed)} failed`,
    `${safeLine(summary.file)}, started ${summary.createdAt}`,
    ...failures.map(
      ({ row, requestId, error }) =>
        `  row ${row} (${safeLine(requestId)}): ${safeLine(error?.message ?? '')} (${safeLine(error?.code ?? '')})`,
    ),
  ];
  if (summary.state === 'interrupted')
    lines.push(terminal.style('dim', `Go on:  esign bulk resume ${summary.id}`));
  return `${lines.join('\n')}\n`;
}

const COLUMNS = ['row', 'request_id', 'envelope_id', 'status', 'error'];

/** results.csv, line by line. */
export async function* resultsCsv(
  results: AsyncIterable<RowResult>,
): AsyncGenerator<string, void, undefined> {
  const { stringify } = await import('csv-stringify/sync');
  yield `${COLUMNS.join(',')}\n`;
  for await (const { row, requestId, envelopeId, status, error } of results) {
    const message = error === null ? '' : `${error.code}: ${error.message}`;
    yield stringify([[row, requestId, envelopeId ?? '', status ?? '', message]], { escape_formulas: true });
  }
}
