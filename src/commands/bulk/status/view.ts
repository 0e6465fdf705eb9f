import { errorInWords } from '../../../bulk/results.ts';
import type { StatusLine } from '../../../bulk/status/run-status.ts';
import type { SignerState } from '../../../bulk/status/signer-states.ts';
import { timeOf } from '../../../kernel/clock.ts';
import { counted, durationInWords, grouped } from '../../../kernel/duration.ts';
import type { ListView } from '../../../output/list.ts';
import { indented, type TableColumn } from '../../../output/table.ts';
import type { Terminal } from '../../../output/terminal.ts';
import { safeLine } from '../../../output/text.ts';
import { relativeTime } from '../../../output/time.ts';

type Color = Parameters<Terminal['style']>[0];

/** The colors of the states. As for envelope statuses, red and green are never next to each other. */
const COLORS: Readonly<Record<SignerState, Color>> = {
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

/** Counts the signers of a run by state. */
export class Totals {
  readonly #counts = new Map<SignerState, number>();
  readonly #envelopes = new Set<string>();
  signers = 0;

  add({ state, envelopeId }: Pick<StatusLine, 'state' | 'envelopeId'>): void {
    this.signers++;
    this.#counts.set(state, (this.#counts.get(state) ?? 0) + 1);
    if (envelopeId !== null) this.#envelopes.add(envelopeId);
  }

  get envelopes(): number {
    return this.#envelopes.size;
  }

  /** Returns the states that occur, with the number of signers in each. */
  counts(): [SignerState, number][] {
    return ORDER.flatMap((state): [SignerState, number][] => {
      const count = this.#counts.get(state);
      return count === undefined ? [] : [[state, count]];
    });
  }
}

const ORDER: readonly SignerState[] = [
  ...(['signed', 'waiting', 'later', 'draft', 'pending'] as const),
  ...(['declined', 'expired', 'cancelled', 'replaced', 'failed'] as const),
];

/** Returns the run and the number of signers in each state as text. */
export function renderTotals(run: string, totals: Totals, terminal: Terminal): string {
  const counts = totals
    .counts()
    .map(([state, count]) => terminal.style(COLORS[state], `${grouped(count)} ${state}`))
    .join(', ');
  const size = `${counted(totals.signers, 'signer')}, ${counted(totals.envelopes, 'envelope')}`;
  const head = `${terminal.style('bold', safeLine(run))}: ${size}`;
  return `${head}\n${counts === '' ? '' : `${indented(counts, 0, terminal)}\n`}\n`;
}

/** Returns the list view of a run's signers. */
export function statusList(now: () => number): ListView<StatusLine> {
  const text = (key: keyof StatusLine, header: string): TableColumn<StatusLine> => ({
    key,
    header,
    value: (line) => String(line[key] ?? ''),
  });
  const row: TableColumn<StatusLine> = { ...text('row', 'ROW'), fixed: true };
  const envelopeId: TableColumn<StatusLine> = { ...text('envelopeId', 'ENVELOPE'), fixed: true };
  const state: TableColumn<StatusLine> = {
    ...text('state', 'STATE'),
    fixed: true,
    color: (line) => COLORS[line.state],
  };
  const role = text('role', 'ROLE');
  const signer: TableColumn<StatusLine> = {
    key: 'signer',
    header: 'SIGNER',
    value: ({ name, email }) => name || email || '',
    least: 8,
  };
  const detail: TableColumn<StatusLine> = {
    key: 'detail',
    header: 'DETAILS',
    value: (line) => detailOf(line, now()),
  };
  const error: TableColumn<StatusLine> = {
    ...text('error', 'ERROR'),
    value: (line) => errorInWords(line.error),
  };
  return {
    id: (line) => line.envelopeId ?? '',
    empty: 'No signers are in these states.',
    columns: [
      row,
      text('requestId', 'REQUEST ID'),
      envelopeId,
      text('envelopeStatus', 'ENVELOPE STATUS'),
      state,
      text('name', 'NAME'),
      text('email', 'EMAIL'),
      role,
      text('sentAt', 'SENT'),
      text('signedAt', 'SIGNED'),
      text('waitingSince', 'WAITING SINCE'),
      error,
      text('replacedBy', 'REPLACED BY'),
    ],
    shown: [row, state, signer, detail, envelopeId, { ...role, extra: true }],
  };
}

/** Returns details that the state doesn't show. */
function detailOf(line: StatusLine, now: number): string {
  if (line.error !== null) return errorInWords(line.error);
  if (line.replacedBy !== undefined) return `by ${line.replacedBy}`;
  if (line.state === 'waiting') {
    const since = timeOf(line.waitingSince ?? '');
    return Number.isNaN(since) ? '' : `for ${durationInWords(Math.max(0, now - since))}`;
  }
  return line.signedAt ? relativeTime(line.signedAt, now) : '';
}
