import type { Envelope } from '../../../api/schemas.ts';
import type { Context } from '../../../cli/context.ts';
import { readIds } from '../../../cli/input/ids.ts';
import type { ListFormat } from '../../../output/list.ts';
import { forEachId } from '../each.ts';

export interface GetFlags extends ListFormat {
  history: boolean;
}

/**
 * `envelopes get`: shows each envelope in full, or as list rows with --fields or -q. Scripts may call it a thousand times for
 * the JSON, so everything else is loaded late.
 */
export async function getEnvelopes(
  words: readonly string[],
  flags: GetFlags,
  context: Context,
): Promise<void> {
  const { terminal } = context;
  const { signal } = context.interrupt;
  const ids = await readIds(words, 'envelope ID');
  const client = await context.session.client();
  const history = flags.history ? new (await import('./history.ts')).Histories(ids.ids) : undefined;
  const isWhole = !flags.csv && !flags.quiet && flags.fields === undefined;
  const successors = new Map<string, Envelope>();
  const act = async (id: string) => {
    const envelope = await client.envelopes.get(id, signal);
    if (!context.terminal.json && isWhole) {
      const { successorOf } = await import('../replace/successor.ts');
      const made = await successorOf(envelope, { client, looks: !ids.stream }, context);
      if (made) successors.set(id, made);
    }
    return { envelope: (await history?.withHistory(envelope)) ?? envelope };
  };
  const whole = async ({ envelope }: { envelope: Envelope }) => {
    const { renderEnvelope } = await import('../view.ts');
    const text = renderEnvelope(envelope, terminal, context.session.now(), successors.get(envelope.id));
    return `${text}${history?.render(envelope, context) ?? ''}`;
  };
  if (isWhole) return forEachId({ ids, act, show: whole }, context);
  const rows: Envelope[] = [];
  const keep = ({ envelope }: { envelope: Envelope }) => {
    rows.push(envelope);
    return '';
  };
  try {
    await forEachId({ ids, act, show: keep }, context);
  } finally {
    if (rows.length > 0) await writeRows(rows, flags, context);
  }
}

async function writeRows(rows: readonly Envelope[], flags: GetFlags, context: Context): Promise<void> {
  const { writeList } = await import('../../../output/list.ts');
  const { envelopeList } = await import('../list/view.ts');
  await writeList(
    rows,
    envelopeList(() => context.session.now()),
    flags,
    context.terminal.hidingSecrets(),
  );
}
