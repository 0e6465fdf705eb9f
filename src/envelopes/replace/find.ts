import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/schemas.ts';
import { isVoid, REPLACES_KEY } from '../../kernel/vocabulary.ts';

/** Where a replacement is looked for. */
export interface Looking {
  /** Of envelopes with these templates alone, where lists do not show metadata. */
  templates?: readonly (string | null | undefined)[];
  /** Only among so many of the latest, and none is read by itself. */
  latest?: number;
  signal?: AbortSignal | undefined;
}

/**
 * The envelope that was made in place of another, by its metadata: the one that was sent, else the first draft. None that
 * was taken back as a draft. List items that show no metadata are completed with a GET.
 */
export async function findReplacement(
  client: Client,
  old: Envelope,
  { templates = [old.templateId], latest, signal }: Looking = {},
): Promise<Envelope | undefined> {
  const made = Date.parse(old.createdAt ?? '') || 0;
  const isRead = ({ id, metadata, templateId }: Envelope) =>
    latest === undefined &&
    metadata === undefined &&
    id !== old.id &&
    (!templateId || templates.includes(templateId));
  let [best, looked]: [Envelope | undefined, number] = [undefined, 0];
  for await (const item of client.envelopes.recent(() => made, signal)) {
    if (latest !== undefined && ++looked > latest) break;
    const envelope = isRead(item) ? await client.envelopes.get(item.id, signal) : item;
    if (replacedBy(envelope) === old.id && !isVoid(envelope)) best = better(best, envelope);
  }
  return best && client.envelopes.get(best.id, signal);
}

/** The id of the envelope in whose place this one was made; undefined when it is no replacement. */
export function replacedBy({ metadata }: Envelope): string | undefined {
  const id = metadata?.[REPLACES_KEY];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function better(known: Envelope | undefined, other: Envelope): Envelope {
  if (known === undefined) return other;
  const sent = [known, other].filter((one) => one.status !== 'DRAFT');
  if (sent.length === 1 && sent[0] !== undefined) return sent[0];
  return Date.parse(other.createdAt ?? '') < Date.parse(known.createdAt ?? '') ? other : known;
}
