import * as Flags from '@oclif/core/flags';
import { filesOf } from '../../../bulk/runs.ts';
import {
  collectEnvelopes,
  type RunJournal,
  type StatusLine,
  statusLines,
} from '../../../bulk/status/run-status.ts';
import { SIGNER_STATES, type SignerState } from '../../../bulk/status/signer-states.ts';
import { EsignCommand } from '../../../cli/command.ts';
import type { Context } from '../../../cli/context.ts';
import { formatFlags, latestRunArg } from '../../../cli/flags.ts';
import { runOnThisMachine, selectedRun } from '../../../cli/selection/run.ts';
import { select } from '../../../cli/selection/select.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { runsDir } from '../../../kernel/files/paths.ts';
import { preferLowMemory } from '../../../kernel/process/v8-flags.ts';
import { nearest } from '../../../kernel/text/nearest.ts';
import { isForPerson, writeIds, writeList } from '../../../output/list.ts';
import { namedRun, requireSameOrganization } from '../run.ts';
import { renderTotals, statusList, Totals } from './view.ts';

export default class BulkStatus extends EsignCommand {
  static override summary = 'Show who has signed, who is waiting, and what failed in a run.';
  static override description =
    "Prints one line for each signer, with the current state: signed, waiting (it is their turn), later (someone before them has not signed), declined, expired, cancelled, draft, failed (the row was refused), pending (not created yet), or replaced. Envelopes that can no longer change are not requested again. Runs from other machines are found by their envelopes' metadata.";
  static override examples = [
    '<%= config.bin %> bulk status',
    '<%= config.bin %> bulk status --last --only waiting',
    '<%= config.bin %> bulk status run-20261121-093012345-4f2a --csv > status.csv',
    '<%= config.bin %> bulk status --last --only failed --fields row,email,error.message',
    '<%= config.bin %> bulk status --last --only waiting -q | <%= config.bin %> envelopes remind - --min-gap 24h --yes',
  ];
  static override args = latestRunArg;
  static override flags = {
    last: Flags.boolean({ description: 'the latest run' }),
    only: Flags.string({ description: 'only signers in one of these states', helpValue: 'A,B' }),
    ...formatFlags,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BulkStatus);
    const only = flags.only === undefined ? undefined : readStates(flags.only);
    const context = this.context(flags);
    preferLowMemory();
    const id = await namedRun(args.run, flags.last, { orLast: true });
    const { terminal, session } = context;
    const out = terminal.hidingSecrets();
    const lines = await statusOfRun(id, context);
    const totals = new Totals();
    const isSelected = ({ state }: StatusLine) => only === undefined || only.includes(state);
    async function* selected() {
      for await (const line of lines) {
        totals.add(line);
        if (isSelected(line)) yield line;
      }
    }
    if (flags.quiet) return writeIds(await envelopeIds(selected()), out);
    const view = statusList(() => session.now());
    if (!isForPerson(flags, terminal)) return writeList(selected(), view, flags, out);
    const shown: StatusLine[] = [];
    for await (const line of selected()) shown.push(line);
    await out.out(renderTotals(id, totals, terminal));
    await writeList(shown, view, flags, out);
  }
}

/** Returns a line for each signer of a run with their current state. */
export async function statusOfRun(id: string, context: Context): Promise<AsyncIterable<StatusLine>> {
  const { terminal, session, interrupt } = context;
  const state = await runOnThisMachine(id, context);
  const journal: RunJournal | undefined = state && { state, files: filesOf(runsDir(), id) };
  const run = state ? { id, envelopeIds: state.envelopeIds() } : await selectedRun(id, context);
  if (state === undefined)
    terminal.notice(
      `This machine has no journal for ${id}, so rows that failed or were not created are not shown.`,
    );
  const { envelopes } = await select({ run }, {}, context);
  const client = await session.client();
  const collected = await collectEnvelopes(
    id,
    envelopes,
    { client, journal, signal: interrupt.signal },
    (known) => requireSameOrganization(known, client, interrupt),
  );
  return statusLines(collected, journal);
}

/** Returns each envelope ID once, in the order of the lines. */
async function envelopeIds(lines: AsyncIterable<StatusLine>): Promise<string[]> {
  const ids = new Set<string>();
  for await (const { envelopeId } of lines) if (envelopeId !== null) ids.add(envelopeId);
  return [...ids];
}

/** Reads `waiting,later`. @throws UsageError for a state that does not exist. */
export function readStates(text: string): SignerState[] {
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
