import { searchEnvelopes } from '../../catalog/commands/select-envelopes.ts';
import { filtersOf } from '../../catalog/commands/selection-flags.ts';
import type { Moment } from '../../kernel/clock.ts';
import { listsSigners } from '../../kernel/vocabulary.ts';
import type { Context } from '../../session/context.ts';
import { Roster } from '../roster/roster.ts';

/** Collects the signers of these templates from the local index and newer envelopes. */
export async function collectRoster(
  templates: Iterable<string>,
  since: Moment | undefined,
  context: Context,
): Promise<Roster> {
  const roster = new Roster();
  const client = await context.session.client();
  for (const templateId of templates) {
    const { envelopes } = await searchEnvelopes(filtersOf({ template: templateId, since }), {}, context);
    for await (const one of envelopes) {
      // The search also matches templates by name.
      if (one.templateId !== templateId) continue;
      roster.add(listsSigners(one) ? one : await client.envelopes.get(one.id, context.interrupt.signal));
    }
  }
  return roster;
}
