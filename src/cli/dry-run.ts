import { safeLine } from '../output/text.ts';
import type { Context } from './context.ts';

/** Prints the ids that would be acted on. `details` returns what is known about one, for people. */
export async function writeDryRun(
  ids: readonly string[],
  action: string,
  context: Context,
  details?: (id: string) => string,
): Promise<void> {
  const { terminal, json } = context;
  for (const id of ids) {
    await (json
      ? context.jsonLine({ dryRun: true, action, id })
      : terminal.out(`would ${action} ${details?.(id) ?? safeLine(id)}\n`));
  }
}
