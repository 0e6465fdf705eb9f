import type { PlannedWrite } from '../api/write-gate.ts';
import { safeLine } from '../output/text.ts';
import type { Context } from './context.ts';
import type { CommandTerminal } from './terminal.ts';

/** Prints the IDs on which the command would act. On a terminal, `details` describes each. */
export async function writeDryRun(
  ids: readonly string[],
  action: string,
  terminal: CommandTerminal,
  details?: (id: string) => string,
): Promise<void> {
  const { json } = terminal;
  for (const id of ids) {
    await (json
      ? terminal.jsonLine({ dryRun: true, action, id })
      : terminal.out(`would ${action} ${details?.(id) ?? safeLine(id)}\n`));
  }
}

/** Prints a notice if a guard would refuse the planned writes of a dry run. */
export async function noteRefusal(
  planned: readonly PlannedWrite[],
  { session, terminal }: Context,
): Promise<void> {
  const refusal = planned.length === 0 ? undefined : await session.findRefusal(planned);
  if (refusal === undefined) return;
  const { code, reason, hint = '' } = refusal;
  terminal.notice(`Without --dry-run, this command would be refused (${code}). ${reason} ${hint}`);
}
