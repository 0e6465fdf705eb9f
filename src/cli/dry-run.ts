import { safeLine } from '../output/text.ts';
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
