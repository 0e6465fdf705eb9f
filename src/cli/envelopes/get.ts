import type { Envelope } from '../../api/schemas.ts';
import { type ListFormat, writeList } from '../../output/list.ts';
import type { Context } from '../context.ts';
import { readIds } from '../input/ids.ts';
import { forEachId } from './each.ts';
import { Histories } from './history.ts';
import { envelopeList } from './list-view.ts';
import { renderEnvelope } from './view.ts';

export interface GetFlags extends ListFormat {
  history: boolean;
}

/** `envelopes get`: each as a whole, or as the rows of a list where columns or ids are asked for. */
export async function getEnvelopes(
  words: readonly string[],
  flags: GetFlags,
  context: Context,
): Promise<void> {
  const { terminal, signal } = context;
  const ids = await readIds(words, 'envelope id');
  const client = await context.client();
  const history = flags.history ? new Histories(ids.ids) : undefined;
  const act = async (id: string) => {
    const envelope = await client.envelopes.get(id, signal);
    return { envelope: (await history?.addedTo(envelope)) ?? envelope };
  };
  const whole = (envelope: Envelope) =>
    `${renderEnvelope(envelope, terminal, context.now())}${history?.render(envelope, context) ?? ''}`;
  if (!flags.csv && !flags.quiet && flags.fields === undefined)
    return forEachId({ ids, act, show: whole }, context);
  const rows: Envelope[] = [];
  const keep = (envelope: Envelope) => {
    rows.push(envelope);
    return '';
  };
  try {
    await forEachId({ ids, act, show: keep }, context);
  } finally {
    if (rows.length > 0)
      await writeList(
        rows,
        envelopeList(() => context.now()),
        flags,
        terminal,
      );
  }
}
