import { filesOf } from '../../../bulk/runs.ts';
import {
  collectEnvelopes,
  type RunJournal,
  type StatusLine,
  statusLines,
} from '../../../bulk/status/run-status.ts';
import { SIGNER_STATES, type SignerState } from '../../../bulk/status/signer-states.ts';
import type { Context } from '../../../cli/context.ts';
import { runOnThisMachine, selectedRun } from '../../../cli/selection/run.ts';
import { select } from '../../../cli/selection/select.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { runsDir } from '../../../kernel/files/paths.ts';
import { preferLowMemory } from '../../../kernel/process/v8-flags.ts';
import { nearest } from '../../../kernel/text/nearest.ts';
import { type ListFormat, writeIds, writeList } from '../../../output/list.ts';
import { namedRun, requireSameOrganization } from '../run.ts';
import { renderTotals, statusList, Totals } from './view.ts';

export interface StatusFlags extends ListFormat {
  last: boolean;
  only?: readonly SignerState[] | undefined;
}

/** Runs `bulk status`: prints a line for each signer of the run, after the totals on a terminal. */
export async function showStatus(
  name: string | undefined,
  flags: StatusFlags,
  context: Context,
): Promise<void> {
  preferLowMemory();
  const id = await namedRun(name, flags.last, { orLast: true });
  const { terminal, session } = context;
  const out = terminal.hidingSecrets();
  const lines = await statusOfRun(id, context);
  const totals = new Totals();
  const isSelected = ({ state }: StatusLine) => flags.only === undefined || flags.only.includes(state);
  async function* selected() {
    for await (const line of lines) {
      totals.add(line);
      if (isSelected(line)) yield line;
    }
  }
  if (flags.quiet) return writeIds(await envelopeIds(selected()), out);
  const isTable = terminal.outIsTty && !terminal.json && !flags.csv && flags.fields === undefined;
  const view = statusList(() => session.now());
  if (!isTable) return writeList(selected(), view, flags, out);
  const shown: StatusLine[] = [];
  for await (const line of selected()) shown.push(line);
  await out.out(renderTotals(id, totals, terminal));
  await writeList(shown, view, flags, out);
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
