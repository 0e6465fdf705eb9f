import { safeLine } from '../output/text.ts';
import type { Context } from './context.ts';
import type { Ids } from './input/ids.ts';

/** What --dry-run says: the ids that would be acted on, and nothing else happens. */
export async function writeDryRun(ids: Ids, action: string, context: Context): Promise<void> {
  const { terminal, json } = context;
  for (const id of ids.ids) {
    await (json
      ? context.jsonLine({ dryRun: true, action, id })
      : terminal.out(`would ${action} ${safeLine(id)}\n`));
  }
}
