import { type NextStep, renderNextSteps } from '../../cli/next-steps.ts';
import type { NextStepsTerminal } from '../../cli/terminal.ts';
import { timeOf } from '../../kernel/clock.ts';
import { counted, DAY_MS, durationInWords, grouped } from '../../kernel/duration.ts';
import { comparableSigner } from '../../kernel/text/email-address.ts';
import { linesBelow, renderTable } from '../../output/table.ts';
import { errRows, type Terminal } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';
import { errorInWords } from '../../runs/results.ts';
import type { RunArguments } from '../../selection/selected-run.ts';
import type { SignerLine } from '../status/signer-lines.ts';
import type { SignerState } from '../status/signer-states.ts';

/** How many lines of each kind fit on a screen of 24 lines. */
const MAX_PROBLEMS = 6;
const MAX_WAITING = 3;

/** The lines of a screen for the run, the totals, the title and header of problems, the commands, and the next prompt. */
const FIXED_LINES = 11;
/** The lines above those who are waiting. */
const WAITING_HEAD_LINES = 3;
/** The lines of a screen whose height is unknown, because stderr is not a terminal. */
const UNKNOWN_ROWS = 24;

/** How long someone must have been waiting before the command that reminds those who are late is shown. */
const MAY_BE_LATE_MS = DAY_MS;

const NEEDS_YOU: readonly SignerState[] = ['failed', 'declined', 'expired'];

/** A row of the screen. */
interface Attention {
  line: string;
  person: string;
  what: string;
  /** Why, as the signer or the service says. */
  reason: string;
  envelopeId: string;
}

/**
 * Returns what needs the user: failed and declined rows with their reasons, and who has been waiting longest, with the command that
 * reminds those who are late once someone may be.
 */
export function attentionText(
  lines: readonly SignerLine[],
  run: RunArguments,
  terminal: NextStepsTerminal,
  now: number,
): string {
  const problems = lines.filter(({ state }) => NEEDS_YOU.includes(state)).map(problemOf);
  const named = fitProblems(problems.slice(0, MAX_PROBLEMS), terminal);
  const waiting = waitingPeople(lines, now);
  const isLate = waiting.some(({ since }) => now - since >= MAY_BE_LATE_MS);
  const hidden = Math.max(0, problems.length - MAX_PROBLEMS) + Math.max(0, waiting.length - named.waiting);
  const remind = `${terminal.command('late', ...run.filter, '-q')} | ${terminal.command('envelopes', 'remind', '-')}`;
  const steps: NextStep[] = [
    ...(hidden > 0
      ? ([
          [`${grouped(hidden)} more`, terminal.command('bulk', 'status', ...run.argument, '--all')],
        ] satisfies NextStep[])
      : []),
    ...(named.isCut
      ? ([
          ['Whole reasons', terminal.command('bulk', 'status', ...run.argument, '--only', 'declined,failed')],
        ] satisfies NextStep[])
      : []),
    ...(isLate ? ([['Remind late signers', remind]] satisfies NextStep[]) : []),
  ];
  return [
    attentionTable('Needs attention', 'PROBLEM', named.problems, terminal),
    attentionTable('Waiting longest', 'WAITING', waiting.slice(0, named.waiting), terminal),
    steps.length > 0 ? `\n${renderNextSteps(steps, terminal, '')}` : '',
  ].join('');
}

function problemOf(one: SignerLine): Attention {
  const { state, error } = one;
  const reason = state === 'declined' ? (error?.message ?? '') : errorInWords(error);
  return { ...placeOf(one), what: state, reason };
}

function screenRows(): number {
  const rows = errRows();
  return Number.isFinite(rows) ? rows : UNKNOWN_ROWS;
}

/**
 * Cuts long reasons evenly to the lines that a screen has for them. Also returns how many of those who are waiting fit below: a
 * reason is more important.
 */
function fitProblems(
  problems: readonly Attention[],
  { columns }: Terminal,
): { problems: Attention[]; isCut: boolean; waiting: number } {
  const room = screenRows() - FIXED_LINES - problems.length;
  const below = problems.map(({ reason }) => linesBelow(safeLine(reason), columns));
  const long = below.filter((lines) => lines.length > 0);
  const whole = long.reduce((sum, lines) => sum + lines.length, 0);
  const waiting = Math.min(MAX_WAITING, Math.max(0, room - whole - WAITING_HEAD_LINES));
  const most = Math.floor(
    (room - (waiting > 0 ? waiting + WAITING_HEAD_LINES : 0)) / Math.max(1, long.length),
  );
  return {
    problems: problems.map((one, index) => {
      const lines = below[index] ?? [];
      return lines.length > most
        ? { ...one, reason: `${lines.slice(0, most).join(' ').slice(0, -1)}…` }
        : one;
    }),
    isCut: long.some((lines) => lines.length > most),
    waiting,
  };
}

/** Returns who can sign now, longest first. A person with several envelopes is one row; a repeated row has the envelope of an earlier one. */
function waitingPeople(lines: readonly SignerLine[], now: number): (Attention & { since: number })[] {
  const people = new Map<string, { first: SignerLine; since: number; envelopes: Set<string> }>();
  for (const one of lines) {
    if (one.state !== 'waiting' || one.envelopeStatus === 'DECLINED') continue;
    const key = one.email ? comparableSigner(one.email) : (one.envelopeId ?? '');
    const since = timeOf(one.waitingSince ?? '');
    const known = people.get(key) ?? { first: one, since, envelopes: new Set() };
    known.envelopes.add(one.envelopeId ?? '');
    known.since = Math.min(known.since, since);
    people.set(key, known);
  }
  return [...people.values()]
    .toSorted((one, other) => one.since - other.since)
    .map(({ first, since, envelopes }) => {
      const isOne = envelopes.size === 1;
      const place = isOne ? placeOf(first) : { ...placeOf(first), line: '–', envelopeId: '' };
      const time = Number.isNaN(since) ? [] : [durationInWords(Math.max(0, now - since))];
      return {
        ...place,
        since,
        what: [...(isOne ? [] : [counted(envelopes.size, 'envelope')]), ...time].join(', '),
        reason: '',
      };
    });
}

function placeOf({ line, row, name, email, envelopeId }: SignerLine): Omit<Attention, 'what' | 'reason'> {
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
      { key: 'person', wraps: true, least: 8 },
      { key: 'what', header, least: 8 },
      { key: 'reason', wraps: true, below: true, extra: true },
      { key: 'envelopeId', header: 'ENVELOPE', fixed: true },
    ],
    terminal,
  );
  return `\n${terminal.style('bold', title)}\n${table}`;
}
