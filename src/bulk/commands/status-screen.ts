import { timeOf } from '../../kernel/clock.ts';
import { counted, durationInWords, grouped } from '../../kernel/duration.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { indented, renderTable } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';
import { relativeTime } from '../../output/time.ts';
import type { RunSummary } from '../run-list.ts';
import type { RunState } from '../run-state.ts';
import type { StatusLine } from '../status/run-status.ts';
import { rowStateOf, type SignerState } from '../status/signer-states.ts';

type Color = Parameters<Terminal['style']>[0];

/** The colors of the states. As for envelope statuses, red and green are never next to each other. */
export const COLORS: Readonly<Record<SignerState, Color>> = {
  failed: 'red',
  pending: 'dim',
  draft: 'dim',
  declined: 'magenta',
  expired: 'yellow',
  cancelled: 'dim',
  replaced: 'dim',
  waiting: 'cyan',
  later: 'dim',
  signed: 'green',
};

/** Returns the color of a run's state. */
export function stateColor(run: Pick<RunSummary, 'state'>): 'green' | 'yellow' | 'cyan' | 'dim' {
  if (run.state === 'finished') return 'green';
  if (run.state === 'cancelled') return 'dim';
  return run.state === 'running' ? 'cyan' : 'yellow';
}

const ORDER: readonly SignerState[] = [
  ...(['signed', 'waiting', 'later', 'draft', 'pending'] as const),
  ...(['declined', 'expired', 'cancelled', 'replaced', 'failed'] as const),
];
/** How many lines of each kind fit on a screen of 24 lines. */
const MAX_PROBLEMS = 7;
const MAX_WAITING = 3;

/** A run on this machine, or only the ID of one that was started elsewhere. */
export type KnownRun = { summary: RunSummary; state: RunState } | { id: string };

/** Returns the state of a run and how to continue. */
export function runText(run: KnownRun, terminal: Terminal, now: number): string {
  if (!('summary' in run)) return `${terminal.style('bold', safeLine(run.id))}\n`;
  const { id, file, createdAt, state, total } = run.summary;
  const head = `${terminal.style('bold', id)}, ${safeLine(file)}, ${relativeTime(createdAt, now)}`;
  const lines = [
    `${head}, ${terminal.style(stateColor(run.summary), state)}: ${counted(total, 'row')}`,
    ...continuation(run),
    ...[...run.state.secondEnvelopes.values()].map((one) =>
      safeLine(
        `Row ${one.row} has a second envelope: ${one.id} (${one.status}). Keep one and cancel the other.`,
      ),
    ),
  ];
  return `${lines.map((line) => indented(line, 2, terminal)).join('\n')}\n`;
}

function continuation({ summary, state }: { summary: RunSummary; state: RunState }): string[] {
  if (summary.state === 'finished') return [];
  const drafts = state.count('created');
  const unknown = state.count('maybe');
  const counts = [
    `${grouped(summary.done)} of ${grouped(summary.total)} ${state.head.mode === 'draft' ? 'created' : 'sent'}`,
    ...(drafts > 0 ? [counted(drafts, 'draft')] : []),
    ...(unknown > 0 ? [`${grouped(unknown)} with unknown outcome`] : []),
    `${grouped(state.count('pending'))} not begun`,
  ].join(', ');
  const canResume = summary.state === 'interrupted' || summary.state === 'paused';
  return [canResume ? `${counts}. Continue: ${command('bulk', 'resume', summary.id)}` : `${counts}.`];
}

/** Counts the rows and signers of a run by state. */
export class Totals {
  readonly #rows = new Map<number, SignerState[]>();
  #withoutRow = 0;

  add({ row, state }: Pick<StatusLine, 'row' | 'state'>): void {
    if (row === null) this.#withoutRow++;
    else this.#rows.set(row, [...(this.#rows.get(row) ?? []), state]);
  }

  /** Returns the number of rows in each state. A corrected row has the state of its last envelope. */
  text(terminal: Terminal): string {
    const counts = new Map<SignerState, number>();
    let corrected = 0;
    for (const states of this.#rows.values()) {
      const current = states.filter((state) => state !== 'replaced');
      if (current.length > 0 && current.length < states.length) corrected++;
      const state = rowStateOf(current.length > 0 ? current : states);
      if (state !== undefined) counts.set(state, (counts.get(state) ?? 0) + 1);
    }
    const parts = ORDER.flatMap((state) => {
      const count = counts.get(state);
      return count === undefined ? [] : [terminal.style(COLORS[state], `${grouped(count)} ${state}`)];
    });
    if (corrected > 0) parts.push(`${grouped(corrected)} corrected`);
    if (this.#withoutRow > 0) parts.push(`${counted(this.#withoutRow, 'signer')} without a row`);
    return parts.length === 0 ? '' : `${indented(parts.join(', '), 0, terminal)}\n`;
  }
}

const NEEDS_YOU: readonly SignerState[] = ['failed', 'declined', 'expired'];

/** Returns what needs the user: failed and declined rows with their reasons, and who has been waiting longest. */
export function attentionText(
  lines: readonly StatusLine[],
  run: string,
  terminal: Terminal,
  now: number,
): string {
  const problems = lines.filter(({ state }) => NEEDS_YOU.includes(state));
  const waiting = lines
    .filter(({ state }) => state === 'waiting')
    .toSorted((one, other) => timeOf(one.waitingSince ?? '') - timeOf(other.waitingSince ?? ''));
  const blocks = [
    block('Needs you', problems.slice(0, MAX_PROBLEMS), terminal, now),
    block('Waiting longest', waiting.slice(0, MAX_WAITING), terminal, now),
  ];
  const hidden = Math.max(0, problems.length - MAX_PROBLEMS) + Math.max(0, waiting.length - MAX_WAITING);
  const more =
    hidden > 0 ? `\n… and ${grouped(hidden)} more: ${command('bulk', 'status', run, '--all')}\n` : '';
  return `${blocks.join('')}${more}`;
}

function block(title: string, lines: readonly StatusLine[], terminal: Terminal, now: number): string {
  if (lines.length === 0) return '';
  const table = renderTable(
    lines,
    [
      { key: 'line', value: ({ line, row }) => String(line ?? row ?? ''), fixed: true },
      { key: 'person', value: ({ name, email }) => name || email || '', least: 8 },
      { key: 'what', value: (line) => `${line.state}${detailOf(line, now)}`, least: 12 },
      { key: 'envelopeId', header: 'ENVELOPE', fixed: true },
    ],
    terminal,
  );
  return `\n${terminal.style('bold', title)}\n${table}`;
}

function detailOf({ state, error, waitingSince }: StatusLine, now: number): string {
  if (error !== null) return `: ${state === 'declined' ? error.message : `${error.code}: ${error.message}`}`;
  const since = timeOf(waitingSince ?? '');
  return Number.isNaN(since) ? '' : ` for ${durationInWords(Math.max(0, now - since))}`;
}
