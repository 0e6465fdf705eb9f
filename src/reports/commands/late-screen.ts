import { counted, DAY_MS, durationInWords, grouped } from '../../kernel/duration.ts';
import { comparableSigner } from '../../kernel/text/email-address.ts';
import { indented, renderTable, type TableColumn } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { relativeTime } from '../../output/time.ts';
import { DEFAULT_USUAL_MS, HISTORY_MS, MIN_SAMPLES } from '../usual-time.ts';
import type { LateSigner } from './late-signers.ts';

/** A person with at least this many late envelopes is one line: nobody wants 84 reminders. */
const MANY = 3;
/** How many lines fit on a screen of 24 lines, above the command that reminds. */
const MAX_LINES = 14;

/** A line of the screen: a late signer, or a person with many late envelopes. */
interface LateLine {
  /** The one who has waited longest. */
  first: LateSigner;
  count: number;
}

/** Renders who is late, longest first, and `remind`, the command that reminds exactly these signers. */
export function renderLate(
  late: readonly LateSigner[],
  remind: string,
  terminal: Terminal,
  now: number,
): string {
  const lines = linesOf(late);
  const more = lines.slice(MAX_LINES).reduce((sum, { count }) => sum + count, 0);
  return [
    renderTable(lines.slice(0, MAX_LINES), columns(now), terminal),
    more > 0 ? `… and ${grouped(more)} more: add --csv or --json\n` : '',
    `\n${terminal.style('dim', `${indented(notes(late), 0, terminal)}\n`)}`,
    `Remind them:  ${remind}\n`,
  ].join('');
}

/** Puts the envelopes of people with many into one line each, at the place of the longest wait. */
function linesOf(late: readonly LateSigner[]): LateLine[] {
  const byPerson = new Map<string, LateSigner[]>();
  for (const one of late) {
    const person = personOf(one);
    const others = byPerson.get(person);
    if (others === undefined) byPerson.set(person, [one]);
    else others.push(one);
  }
  return late.flatMap((one) => {
    const all = byPerson.get(personOf(one)) ?? [];
    if (all.length < MANY) return [{ first: one, count: 1 }];
    return all[0] === one ? [{ first: one, count: all.length }] : [];
  });
}

/** Returns the address, or for a signer without one the ID, which differs in each envelope. */
function personOf({ envelopeId, signer }: LateSigner): string {
  return comparableSigner(signer.email ?? '') || signer.id || envelopeId;
}

function columns(now: number): TableColumn<LateLine>[] {
  return [
    { key: 'signer', show: ({ first: { signer } }) => signer.name || signer.email || signer.id || '' },
    {
      key: 'envelope',
      show: ({ first, count }) => (count > 1 ? counted(count, 'envelope') : first.envelopeId),
      fixed: true,
    },
    { key: 'waiting', show: waitingText, color: () => 'yellow', fixed: true },
    { key: 'usual', show: ({ first }) => durationInWords(first.usual.percentileMs), fixed: true },
    { key: 'reminded', show: ({ first }) => relativeTime(first.remindedAt, now), fixed: true },
    { key: 'expires', show: ({ first }) => relativeTime(first.expiresAt, now), fixed: true },
  ];
}

function waitingText({ first, count }: LateLine): string {
  const waiting = durationInWords(first.waitingMs);
  if (count > 1) return `up to ${waiting}`;
  return first.opened ? `${waiting}, opened` : waiting;
}

/** Returns what the columns mean where that isn't obvious. */
function notes(late: readonly LateSigner[]): string {
  const isDefault = late.some(({ usual }) => usual.basis === 'default');
  return [
    'REMINDED is empty for signers who were not reminded from this machine.',
    ...(isDefault
      ? [
          `USUAL is ${durationInWords(DEFAULT_USUAL_MS)} until ${counted(MIN_SAMPLES, 'turn')} have finished within ${counted(HISTORY_MS / DAY_MS, 'day')}.`,
        ]
      : []),
  ].join(' ');
}
