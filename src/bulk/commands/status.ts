import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, fieldsFlag, formatFlags, latestRunArg, textFlag } from '../../cli/flags.ts';
import { outputTable } from '../../cli/output-table.ts';
import type { Context } from '../../cli/session/context.ts';
import { timeOf } from '../../kernel/clock.ts';
import { durationInWords } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import { runsDir } from '../../kernel/files/paths.ts';
import { preferLowMemory } from '../../kernel/process/v8-flags.ts';
import { collectAll } from '../../kernel/streams.ts';
import { nearest } from '../../kernel/text/nearest.ts';
import {
  isTableOutput,
  type ListItems,
  type ListView,
  writeIds,
  writeList,
} from '../../output/print-list.ts';
import type { TableColumn } from '../../output/table.ts';
import { relativeTime } from '../../output/time.ts';
import { errorInWords } from '../../runs/results.ts';
import { filesOf } from '../../runs/run-files.ts';
import { summaryOf } from '../../runs/run-list.ts';
import type { RunState } from '../../runs/run-state.ts';
import { readSelected } from '../../selection/select-envelopes.ts';
import {
  resolveRunId,
  runOnThisMachine,
  selectedRun,
  shortArgumentsOfRun,
} from '../../selection/selected-run.ts';
import { collectEnvelopes, type RunJournal } from '../status/run-envelopes.ts';
import { type SignerLine, signerLines } from '../status/signer-lines.ts';
import { SIGNER_STATES, type SignerState } from '../status/signer-states.ts';
import { Totals } from '../status/totals.ts';
import { STATE_COLORS } from './state-colors.ts';
import { attentionText } from './status-attention.ts';
import { runText, totalsText } from './status-screen.ts';

export default class BulkStatus extends EsignCommand {
  static override summary = 'Show who has signed, who is waiting, and what failed in a run.';
  static override description =
    "Shows the state of the run, the number of rows in each state, and what needs attention. With --all, --only, or in a pipe, prints one line for each signer, with the current state: signed, waiting (it is their turn), later (someone before them has not signed), declined, expired, cancelled, draft, failed (the row was refused), pending (not created yet), or replaced. Envelopes that can no longer change are not requested again. Runs from other machines are found by their envelopes' metadata.";
  static override examples = [
    '<%= config.bin %> bulk status',
    '<%= config.bin %> bulk status --all',
    '<%= config.bin %> bulk status --only waiting',
    '<%= config.bin %> bulk status run-20261121-093012345-4f2a --csv > status.csv',
    '<%= config.bin %> bulk status --only failed --fields row,email,error.message',
    '<%= config.bin %> bulk status --only waiting -q | <%= config.bin %> envelopes remind - --min-gap 24h --yes',
  ];
  static override args = latestRunArg;
  static override flags = {
    only: textFlag('A,B', 'only signers in one of these states'),
    all: booleanFlag('list all signers'),
    ...formatFlags,
    fields: fieldsFlag('row,email,state'),
  };

  async run(): Promise<void> {
    const { args, flags, context, session, terminal } = await this.start(BulkStatus);
    const only = flags.only === undefined ? undefined : readStates(flags.only);
    const format = { ...flags, table: outputTable(flags, terminal) };
    preferLowMemory();
    // The IDs of another run than the latest one may be passed to a command that writes.
    const id = await resolveRunId(args.run, context, flags.quiet ? 'refuse' : 'notice');
    const out = terminal.hidingSecrets();
    const { state, lines } = await statusOfRun(id, context);
    const isSelected = ({ state: one }: SignerLine) => only === undefined || only.includes(one);
    const totals = new Totals();
    async function* selected() {
      for await (const line of lines) {
        totals.add(line);
        if (isSelected(line)) yield line;
      }
    }
    if (flags.quiet) return writeIds(await envelopeIds(selected()), out);
    const view = statusList(() => session.now());
    if (!isTableOutput(format, terminal)) return writeList(selected(), view, format, out);
    const shown = await collectAll(selected());
    const run = state === undefined ? { id } : { summary: await summaryOf(runsDir(), state), state };
    const words = await shortArgumentsOfRun(id, context);
    await out.out(`${runText(run, words, terminal, session.now())}${totalsText(totals, terminal)}`);
    if (only === undefined && !flags.all)
      return out.out(attentionText(shown, words, terminal, session.now()));
    await out.out('\n');
    await writeList(shown, view, flags, out);
  }
}

/** A run, if it is on this machine, and a line for each of its signers. */
interface RunStatusLines {
  state: RunState | undefined;
  lines: AsyncIterable<SignerLine>;
}

/** Returns a line for each signer of a run with their current state. */
export async function statusOfRun(id: string, context: Context): Promise<RunStatusLines> {
  const { terminal, session, interrupt } = context;
  const state = await runOnThisMachine(id, context);
  const journal: RunJournal | undefined = state && { state, files: filesOf(runsDir(), id) };
  const run = state ? { id, envelopeIds: state.envelopeIds() } : await selectedRun(id, context);
  if (state === undefined)
    terminal.notice(
      `This machine has no journal for ${id}, so rows that failed or were not created are not shown.`,
    );
  const { envelopes } = await readSelected({ run }, context);
  const client = await session.client();
  const collected = await collectEnvelopes(id, envelopes, { client, journal, signal: interrupt.signal });
  return { state, lines: signerLines(collected, journal) };
}

/** Returns each envelope ID once, in the order of the lines. */
export async function envelopeIds(lines: ListItems<Pick<SignerLine, 'envelopeId'>>): Promise<string[]> {
  const ids = new Set<string>();
  for await (const { envelopeId } of lines) if (envelopeId !== null) ids.add(envelopeId);
  return [...ids];
}

/** Reads `waiting,later`. @throws UsageError for a state that does not exist. */
function readStates(text: string): SignerState[] {
  return text.split(',').map((part) => {
    const word = part.trim().toLowerCase();
    const state = SIGNER_STATES.find((known) => known === (word === 'canceled' ? 'cancelled' : word));
    if (state !== undefined) return state;
    const suggestion = nearest(word, SIGNER_STATES);
    const all = `The states are ${SIGNER_STATES.join(', ')}.`;
    throw new UsageError(`Unknown state "${part.trim()}".`, {
      hint: suggestion === undefined ? all : `Did you mean ${suggestion}? ${all}`,
    });
  });
}

/** Returns the list view of a run's signers. */
function statusList(now: () => number): ListView<SignerLine> {
  const row: TableColumn<SignerLine> = { key: 'row', fixed: true };
  const line: TableColumn<SignerLine> = { key: 'line', fixed: true };
  const envelopeId: TableColumn<SignerLine> = { key: 'envelopeId', header: 'ENVELOPE', fixed: true };
  const state: TableColumn<SignerLine> = {
    key: 'state',
    fixed: true,
    color: (one) => STATE_COLORS[one.state],
  };
  const role: TableColumn<SignerLine> = { key: 'role' };
  const signer: TableColumn<SignerLine> = {
    key: 'signer',
    value: ({ name, email }) => name || email || '',
    wraps: true,
    least: 8,
  };
  const detail: TableColumn<SignerLine> = {
    key: 'detail',
    header: 'DETAILS',
    value: (one) => detailOf(one, now()),
    wraps: true,
    below: true,
  };
  return {
    id: (one) => one.envelopeId ?? '',
    empty: 'No signers are in these states.',
    columns: [
      row,
      line,
      { key: 'requestId', header: 'REQUEST ID' },
      envelopeId,
      { key: 'envelopeStatus', header: 'ENVELOPE STATUS' },
      state,
      { key: 'name' },
      { key: 'email' },
      role,
      { key: 'sentAt', header: 'SENT' },
      { key: 'signedAt', header: 'SIGNED' },
      { key: 'waitingSince', header: 'WAITING SINCE' },
      { key: 'error', value: ({ error }) => errorInWords(error) },
      { key: 'replacedBy', header: 'REPLACED BY' },
    ],
    shown: [line, state, signer, detail, envelopeId, { ...role, extra: true }],
  };
}

/** Returns details that the state doesn't show. */
function detailOf(line: SignerLine, now: number): string {
  if (line.state === 'declined') return line.error?.message ?? '';
  if (line.error !== null) return errorInWords(line.error);
  if (line.replacedBy !== undefined) return `by ${line.replacedBy}`;
  if (line.state === 'waiting') {
    const since = timeOf(line.waitingSince ?? '');
    return Number.isNaN(since) ? '' : `for ${durationInWords(Math.max(0, now - since))}`;
  }
  return line.signedAt ? relativeTime(line.signedAt, now) : '';
}
