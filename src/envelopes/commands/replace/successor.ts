import type { Client } from '../../../api/client.ts';
import type { Envelope } from '../../../api/schemas.ts';
import { searchEnvelopes } from '../../../catalog/commands/select-envelopes.ts';
import { filtersOf } from '../../../catalog/commands/selection-flags.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import { isTerminal, isVoid } from '../../../kernel/vocabulary.ts';
import type { Context } from '../../../session/context.ts';
import { findListedReplacement, findOwnReplacement, replacedBy } from '../../replace/find-replacement.ts';

/** The number of latest envelopes to search for a replacement that this machine has no record of. */
const LATEST = 300;

/**
 * Finds the replacement of an envelope: in this machine's record or, if it has ended and `looks` is set, in the index and the
 * latest envelopes. Errors are ignored, because the result is only a hint.
 */
export async function successorOf(
  envelope: Envelope,
  { client, looks }: { client: Client; looks: boolean },
  context: Context,
): Promise<Envelope | undefined> {
  const { signal } = context.interrupt;
  const memory = await context.session.memory();
  const own = await findOwnReplacement(client, envelope.id, memory, signal).catch(() => undefined);
  if (own !== undefined) return own;
  const { status } = envelope;
  if (!looks || !isTerminal(status ?? '') || status === 'COMPLETED') return undefined;
  const known = await inIndex(envelope.id, context).catch(() => undefined);
  return known ?? findListedReplacement(client, envelope, { latest: LATEST, signal }).catch(() => undefined);
}

async function inIndex(id: string, context: Context): Promise<Envelope | undefined> {
  if ((await context.session.indexedAccount()) === undefined) return undefined;
  const { envelopes } = await searchEnvelopes(filtersOf({ search: id }), { cached: true }, context);
  for await (const one of envelopes) if (replacedBy(one) === id && !isVoid(one)) return one;
  return undefined;
}

export function followSuccessor(id: string, { id: other, status }: Envelope): string {
  return `${id} was replaced by ${other}, which is ${status ?? 'unknown'}. To watch that one, run \`${command('envelopes', 'watch', other)}\`.`;
}
