import type { NextStepsTerminal } from '../../cli/terminal.ts';
import { counted, grouped } from '../../kernel/duration.ts';
import { indented } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';
import { relativeTime } from '../../output/time.ts';
import type { RunSummary } from '../../runs/run-list.ts';
import type { RunState } from '../../runs/run-state.ts';
import type { RunArguments } from '../../selection/selected-run.ts';
import type { SignerState } from '../status/signer-states.ts';
import type { Totals } from '../status/totals.ts';
import { runStateColor, STATE_COLORS } from './state-colors.ts';

const ORDER: readonly SignerState[] = [
  ...(['signed', 'waiting', 'later', 'draft', 'pending'] as const),
  ...(['declined', 'expired', 'cancelled', 'replaced', 'failed'] as const),
];

/** A run on this machine, or only the ID of one that was started elsewhere. */
export type KnownRun = { summary: RunSummary; state: RunState } | { id: string };

/** Returns the state of a run and how to continue. */
export function runText(
  run: KnownRun,
  words: RunArguments,
  terminal: NextStepsTerminal,
  now: number,
): string {
  if (!('summary' in run)) return `${terminal.style('bold', safeLine(run.id))}\n`;
  const { id, file, createdAt, state, total } = run.summary;
  const head = `${terminal.style('bold', id)}, ${safeLine(file)}, ${relativeTime(createdAt, now)}`;
  const lines = [
    `${head}, ${terminal.style(runStateColor(run.summary), state)}: ${counted(total, 'row')}`,
    ...progressLines(run, words, terminal),
  ];
  return `${lines.map((line) => indented(line, 2, terminal)).join('\n')}\n`;
}

function progressLines(
  { summary, state }: { summary: RunSummary; state: RunState },
  words: RunArguments,
  terminal: NextStepsTerminal,
): string[] {
  if (summary.state === 'finished') return [];
  const drafts = state.count('reserved');
  const repeated = state.repeatedCount;
  const counts = [
    `${grouped(summary.done - repeated)} of ${grouped(summary.total)} ${state.head.mode === 'draft' ? 'created' : 'sent'}`,
    ...(repeated > 0 ? [`${grouped(repeated)} repeated`] : []),
    ...(drafts > 0 ? [counted(drafts, 'draft')] : []),
    `${grouped(state.count('pending'))} not started`,
  ].join(', ');
  const canResume = summary.state === 'interrupted' || summary.state === 'paused';
  const { continuedBy } = summary;
  if (continuedBy !== null)
    return [`${counts}. Its list was run again: ${terminal.command('bulk', 'status', continuedBy)}`];
  return [
    `${counts}.`,
    ...(canResume ? [`Continue: ${terminal.command('bulk', 'resume', ...words.argument)}`] : []),
  ];
}

/** Returns the number of rows in each state, in one line. */
export function totalsText(totals: Totals, terminal: Terminal): string {
  const { states, corrected } = totals.rows();
  const parts = ORDER.flatMap((state) => {
    const count = states.get(state);
    return count === undefined ? [] : [terminal.style(STATE_COLORS[state], `${grouped(count)} ${state}`)];
  });
  if (parts.length === 0) return '';
  const correction = corrected > 0 ? `; ${counted(corrected, 'row')} corrected` : '';
  return `${indented(`${parts.join(', ')}${correction}`, 0, terminal)}\n`;
}
