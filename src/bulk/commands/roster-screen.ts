import { counted, grouped } from '../../kernel/duration.ts';
import { indented, renderPairs, renderTable, type TableColumn } from '../../output/table.ts';
import type { Terminal, TextFormat } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';
import { hasBeenAsked, ROSTER_STATES, type RosterEntry, type RosterState } from '../roster/roster.ts';
import { STATE_COLORS } from './state-colors.ts';

/** A signer of a row, and whether they have signed. */
export interface RosterLine extends RosterEntry {
  row: number;
  line: number;
  templateId: string;
  email: string;
  name: string | null;
  role: string | null;
}

export function rosterColor(state: RosterState): TextFormat {
  return state === 'never' ? 'dim' : STATE_COLORS[state];
}

/** The states of people who haven't signed, those that need the sender first. */
const OPEN: readonly RosterState[] = ['declined', 'expired', 'cancelled', 'never', 'waiting'];
/** How many people, and how many templates, fit on a screen of 24 lines. */
const MAX_PEOPLE = 10;
const MAX_TEMPLATES = 4;

interface RosterScreen {
  name: string;
  rows: number;
  people: readonly RosterLine[];
  /** The command that creates envelopes for those who are missing. */
  sendCommand: string;
}

/** Returns how many people are in each state, by template, then who has not signed, and the next command. */
export function rosterText({ name, rows, people, sendCommand }: RosterScreen, terminal: Terminal): string {
  const head = `${terminal.style('bold', safeLine(name))}: ${counted(rows, 'row')}, ${counted(people.length, 'signer')}\n`;
  const open = OPEN.flatMap((state) => people.filter((one) => one.state === state));
  const missing = people.filter((one) => !hasBeenAsked(one)).length;
  return [
    head,
    totalsText(people, terminal),
    openText(open, terminal),
    ...(missing > 0
      ? [`\n${indented(`Send to the ${grouped(missing)} who were not asked: ${sendCommand}`, 0, terminal)}\n`]
      : []),
  ].join('');
}

function totalsText(people: readonly RosterLine[], terminal: Terminal): string {
  const templates = [...new Set(people.map(({ templateId }) => templateId))];
  const pairs = templates.slice(0, MAX_TEMPLATES).map((id) => {
    const own = people.filter(({ templateId }) => templateId === id);
    return [safeLine(id), countsText(own, terminal)] as const;
  });
  const others = templates.length - pairs.length;
  const more = others > 0 ? `… and ${counted(others, 'more template')}\n` : '';
  return `${renderPairs(pairs, terminal)}${more}`;
}

function countsText(people: readonly RosterLine[], terminal: Terminal): string {
  const parts = ROSTER_STATES.flatMap((state) => {
    const count = people.filter((one) => one.state === state).length;
    return count === 0 ? [] : [terminal.style(rosterColor(state), `${grouped(count)} ${state}`)];
  });
  return parts.join(', ');
}

const OPEN_COLUMNS: readonly TableColumn<RosterLine>[] = [
  { key: 'line', fixed: true },
  { key: 'person', value: ({ name, email }) => (name === null ? email : `${name} <${email}>`), least: 16 },
  { key: 'state', fixed: true, color: ({ state }) => rosterColor(state) },
  { key: 'envelopeId', header: 'ENVELOPE', fixed: true },
];

function openText(open: readonly RosterLine[], terminal: Terminal): string {
  if (open.length === 0) return '';
  const table = renderTable(open.slice(0, MAX_PEOPLE), OPEN_COLUMNS, terminal);
  const left = open.length - MAX_PEOPLE;
  const more = left > 0 ? `… and ${grouped(left)} more: add --all, or -o FILE.xlsx\n` : '';
  return `\n${terminal.style('bold', 'Not signed')}\n${table}${more}`;
}
