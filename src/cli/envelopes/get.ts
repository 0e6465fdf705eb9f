import type { Envelope } from '../../api/schemas.ts';
import { type ListFormat, writeList } from '../../output/list.ts';
import type { Context } from '../context.ts';
import { readIds } from '../input/ids.ts';
import { forEachId } from './each.ts';
import { Histories } from './history.ts';
import { envelopeList } from './list-view.ts';
import { successorOf } from './replace/successor.ts';
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
  const isWhole = !flags.csv && !flags.quiet && flags.fields === undefined;
  const successors = new Map<string, Envelope>();
  const act = async (id: string) => {
    const envelope = await client.envelopes.get(id, signal);
    if (!context.json && isWhole) {
      const made = await successorOf(envelope, { client, looks: !ids.stream }, context);
      if (made) successors.set(id, made);
    }
    return { envelope: (await history?.addedTo(envelope)) ?? envelope };
  };
  const whole = (envelope: Envelope) => {
    const text = renderEnvelope(envelope, terminal, context.now(), successors.get(envelope.id));
    return `${text}${history?.render(envelope, context) ?? ''}`;
  };
  if (isWhole) return forEachId({ ids, act, show: whole }, context);
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
