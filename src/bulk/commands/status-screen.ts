import { type NextStep, renderNextSteps } from '../../cli/next-steps.ts';
import type { NextStepsTerminal } from '../../cli/terminal.ts';
import { timeOf } from '../../kernel/clock.ts';
import { counted, DAY_MS, durationInWords, grouped } from '../../kernel/duration.ts';
import { comparableSigner } from '../../kernel/text/email-address.ts';
import { indented, renderTable } from '../../output/table.ts';
import type { Terminal, TextFormat } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';
import { relativeTime } from '../../output/time.ts';
import { errorInWords } from '../../runs/results.ts';
import type { RunSummary } from '../../runs/run-list.ts';
import type { RunState } from '../../runs/run-state.ts';
import type { RunArguments } from '../../selection/selected-run.ts';
import type { StatusLine } from '../status/run-status.ts';
import { rowStateOf, type SignerState } from '../status/signer-states.ts';

/** The colors of the states. As for envelope statuses, red and green are never next to each other. */
export const COLORS: Readonly<Record<SignerState, TextFormat>> = {
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
  if (run.state === 'cancelled' || run.state === 'continued') return 'dim';
  return run.state === 'running' ? 'cyan' : 'yellow';
}

const ORDER: readonly SignerState[] = [
  ...(['signed', 'waiting', 'later', 'draft', 'pending'] as const),
  ...(['declined', 'expired', 'cancelled', 'replaced', 'failed'] as const),
];
/** How many lines of each kind fit on a screen of 24 lines. */
const MAX_PROBLEMS = 6;
const MAX_WAITING = 3;

/** How long someone must have been waiting before the command that reminds those who are late is shown. */
const MAY_BE_LATE_MS = DAY_MS;

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
    `${head}, ${terminal.style(stateColor(run.summary), state)}: ${counted(total, 'row')}`,
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
  const counts = [
    `${grouped(summary.done)} of ${grouped(summary.total)} ${state.head.mode === 'draft' ? 'created' : 'sent'}`,
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

/** Counts the rows and signers of a run by state. */
export class Totals {
  readonly #rows = new Map<number, SignerState[]>();

  add({ row, state }: Pick<StatusLine, 'row' | 'state'>): void {
    this.#rows.set(row, [...(this.#rows.get(row) ?? []), state]);
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
    if (parts.length === 0) return '';
    const correction = corrected > 0 ? `; ${counted(corrected, 'row')} corrected` : '';
    return `${indented(`${parts.join(', ')}${correction}`, 0, terminal)}\n`;
  }
}

const NEEDS_YOU: readonly SignerState[] = ['failed', 'declined', 'expired'];

/** A row of the screen. */
interface Attention {
  line: string;
  person: string;
  what: string;
  envelopeId: string;
}

/**
 * Returns what needs the user: failed and declined rows with their reasons, and who has been waiting longest, with the command that
 * reminds those who are late once someone may be.
 */
export function attentionText(
  lines: readonly StatusLine[],
  run: RunArguments,
  terminal: NextStepsTerminal,
  now: number,
): string {
  const problems = lines.filter(({ state }) => NEEDS_YOU.includes(state)).map(problemOf);
  const waiting = waitingPeople(lines, now);
  const isLate = waiting.some(({ since }) => now - since >= MAY_BE_LATE_MS);
  const hidden = Math.max(0, problems.length - MAX_PROBLEMS) + Math.max(0, waiting.length - MAX_WAITING);
  const remind = `${terminal.command('late', ...run.filter, '-q')} | ${terminal.command('envelopes', 'remind', '-')}`;
  const steps: NextStep[] = [
    ...(hidden > 0
      ? ([
          [`${grouped(hidden)} more`, terminal.command('bulk', 'status', ...run.argument, '--all')],
        ] satisfies NextStep[])
      : []),
    ...(isLate ? ([['Remind late signers', remind]] satisfies NextStep[]) : []),
  ];
  return [
    attentionTable('Needs attention', 'PROBLEM', problems.slice(0, MAX_PROBLEMS), terminal),
    attentionTable('Waiting longest', 'WAITING', waiting.slice(0, MAX_WAITING), terminal),
    steps.length > 0 ? `\n${renderNextSteps(steps, terminal, '')}` : '',
  ].join('');
}

function problemOf(one: StatusLine): Attention {
  const { state, error } = one;
  const reason = state === 'declined' ? error?.message : errorInWords(error);
  return { ...placeOf(one), what: reason ? `${state}: ${reason}` : state };
}

/** Returns who can sign now, longest first. A person with several envelopes is one row. */
function waitingPeople(lines: readonly StatusLine[], now: number): (Attention & { since: number })[] {
  const people = new Map<string, { first: StatusLine; since: number; envelopes: number }>();
  for (const one of lines) {
    if (one.state !== 'waiting' || one.envelopeStatus === 'DECLINED') continue;
    const key = one.email ? comparableSigner(one.email) : (one.envelopeId ?? '');
    const since = timeOf(one.waitingSince ?? '');
    const known = people.get(key) ?? { first: one, since, envelopes: 0 };
    known.envelopes++;
    known.since = Math.min(known.since, since);
    people.set(key, known);
  }
  return [...people.values()]
    .toSorted((one, other) => one.since - other.since)
    .map(({ first, since, envelopes }) => {
      const place = envelopes > 1 ? { ...placeOf(first), line: '–', envelopeId: '' } : placeOf(first);
      const time = Number.isNaN(since) ? [] : [durationInWords(Math.max(0, now - since))];
      return {
        ...place,
        since,
        what: [...(envelopes > 1 ? [counted(envelopes, 'envelope')] : []), ...time].join(', '),
      };
    });
}

function placeOf({ line, row, name, email, envelopeId }: StatusLine): Omit<Attention, 'what'> {
  return { line: String(line ?? row), person: name || email || '', envelopeId: envelopeId ?? '' };
}

function attentionTable(
  title: string,
  header: string,
  rows: readonly Attention[],
  terminal: Terminal,
): string {
  if (rows.length === 0) return '';
  const table = renderTable(
    rows,
    [
      { key: 'line', fixed: true },
      { key: 'person', least: 8 },
      { key: 'what', header, least: 12 },
      { key: 'envelopeId', header: 'ENVELOPE', fixed: true },
    ],
    terminal,
  );
  return `\n${terminal.style('bold', title)}\n${table}`;
}
