import { durationInWords } from '../../kernel/duration.ts';
import { command } from '../../kernel/text/shell-words.ts';
import type { ListView } from '../../output/list.ts';
import type { Terminal } from '../../output/terminal.ts';
import { paragraph } from '../../output/text.ts';
import { relativeTime } from '../../output/time.ts';
import type { UsualTime } from '../../statistics/turn-history.ts';
import type { NextStep } from './next-step.ts';

/** A late signer as printed. */
export interface LateRow {
  envelopeId: string;
  signer: { id: string | null; name: string | null; email: string | null; role: string | null };
  /** In ISO 8601, like all times here. */
  since: string;
  waitingMs: number;
  usual: UsualTime;
  opened: boolean | null;
  remindedAt: string | null;
  expiresAt: string | null;
  /** The command to run next. */
  next: string;
}

/** A row with the kind of its next step. */
export interface LateStep {
  row: LateRow;
  step: NextStep;
}

/** The maximum number of commands shown for each kind of step. */
const MAX_COMMANDS = 10;

/** Returns the list of late signers. */
export function lateList(now: number): ListView<LateRow> {
  return {
    id: ({ envelopeId }) => envelopeId,
    columns: [
      { key: 'envelopeId', header: 'ENVELOPE', value: ({ envelopeId }) => envelopeId, fixed: true },
      {
        key: 'signer.email',
        header: 'SIGNER',
        value: ({ signer }) => signer.email ?? '',
        show: ({ signer }) => signer.name || signer.email || signer.id || '',
      },
      {
        key: 'since',
        header: 'WAITING',
        value: ({ since }) => since,
        show: ({ waitingMs }) => durationInWords(waitingMs),
        color: () => 'yellow',
        fixed: true,
      },
      {
        key: 'usual.percentileMs',
        header: 'USUAL',
        value: ({ usual }) => String(usual.percentileMs),
        show: ({ usual }) => durationInWords(usual.percentileMs),
        fixed: true,
      },
      {
        key: 'opened',
        header: 'OPENED',
        value: ({ opened }) => (opened === null ? '' : String(opened)),
        show: ({ opened }) => (opened === null ? '?' : opened ? 'yes' : 'no'),
        fixed: true,
      },
      {
        key: 'expiresAt',
        header: 'EXPIRES',
        value: ({ expiresAt }) => expiresAt ?? '',
        show: ({ expiresAt }) => relativeTime(expiresAt, now),
        fixed: true,
      },
      { key: 'next', header: 'NEXT', value: ({ next }) => next, exactOnly: true },
    ],
  };
}

const REASONS: readonly (readonly [NextStep, string])[] = [
  ['remind', 'Not reminded yet. Send a reminder:'],
  ['replace', 'Reminded, but never opened. Check the address, and correct it:'],
  ['call', 'Already reminded. Check the details, then call the signer:'],
];

/** Renders the next command for each late signer with the reason, and what applies to all of them. */
export function renderNextSteps(late: readonly LateStep[], terminal: Terminal): string {
  const groups = REASONS.flatMap(([kind, reason]) => {
    const commands = late.filter(({ step }) => step === kind).map(({ row }) => `  ${row.next}\n`);
    if (commands.length === 0) return [];
    const more = commands.length - MAX_COMMANDS;
    const rest = more > 0 ? `  … and ${more} more: ${command('late', '--json')}\n` : '';
    const shown = [...new Set(commands)].slice(0, MAX_COMMANDS).join('');
    return `\n${terminal.style('bold', paragraph(reason, terminal.columns))}\n${shown}${rest}`;
  });
  return `${groups.join('')}${caveats(late, terminal)}`;
}

function caveats(late: readonly LateStep[], terminal: Terminal): string {
  const isAny = (holds: (row: LateRow) => boolean) => late.some(({ row }) => holds(row));
  const usual = 'USUAL is 7 days if fewer than 20 turns have finished in the last 180 days.';
  const opened =
    'OPENED shows ? unless `esign listen` on this machine received all webhooks during the turn.';
  const notes = [
    isAny((row) => row.usual.basis === 'default') ? usual : '',
    isAny((row) => row.opened === null) ? opened : '',
  ].filter((note) => note !== '');
  if (notes.length === 0) return '';
  return `\n${notes.map((note) => `${terminal.style('dim', paragraph(note, terminal.columns))}\n`).join('')}`;
}
