import type { Client } from '../../../api/client.ts';
import type { Envelope } from '../../../api/schemas.ts';
import { counted } from '../../../kernel/duration.ts';
import { isNotFound, ServiceError, sentenceOf } from '../../../kernel/errors.ts';
import { mapInOrder } from '../../../kernel/streams.ts';
import { ENVELOPE_STATUSES } from '../../../kernel/vocabulary.ts';
import { inColumns, safeLine, truncate } from '../../../output/text.ts';
import type { Context } from '../../context.ts';
import { confirmed } from '../../input/confirm.ts';
import type { Ids } from '../../input/ids.ts';
import { nameOf } from '../list-view.ts';

/** What is done to several envelopes at once. */
export interface Several {
  /** `Cancel`, of which `Cancel 3 envelopes?` is made. */
  question: string;
  /** `cancelled` */
  verb: string;
  /** Whether it can be done to an envelope in this status. */
  can: (status: string) => boolean;
  /** What else there is to be said of one. */
  remarks?: (envelope: Envelope) => Promise<string[]>;
}

const CONCURRENCY = 8;
/** More rows would hide the question. */
const SHOWN = 20;

interface Seen {
  id: string;
  envelope: Envelope | undefined;
  /** Why it is left out. */
  why: string | undefined;
  remarks: string[];
}

/**
 * Shows which envelopes it is about, leaves out those it can't be done to, and asks.
 * @throws UsageError when the answer is no; ServiceError INVALID_STATE when it can be done to none.
 */
export async function confirmSeveral(
  ids: Ids,
  several: Several,
  client: Client,
  context: Context,
): Promise<Ids> {
  const seen: Seen[] = [];
  for await (const one of mapInOrder(ids.ids, CONCURRENCY, (id) => lookAt(id, several, client, context)))
    seen.push(one);
  const kept = seen.filter(({ why }) => why === undefined);
  show(seen, context);
  if (kept.length === 0)
    throw new ServiceError('INVALID_STATE', `None of the ${ids.ids.length} can be ${several.verb}.`, {
      status: 400,
      hint: 'Why is told above, for each.',
    });
  const question = `${several.question} ${counted(kept.length, 'envelope')}?`;
  await confirmed(question, { yes: false, otherwise: 'nothing was sent or changed' }, context);
  return { ids: kept.map(({ id }) => id), stream: true };
}

async function lookAt(id: string, several: Several, client: Client, { signal }: Context): Promise<Seen> {
  try {
    const envelope = await client.envelopes.get(id, signal);
    const status = envelope.status ?? '';
    const isKnown = ENVELOPE_STATUSES.some((known) => known === status);
    const why = isKnown && !several.can(status) ? `it is ${status}` : undefined;
    const remarks = why === undefined ? await several.remarks?.(envelope) : undefined;
    return { id, envelope, why, remarks: remarks ?? [] };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return { id, envelope: undefined, why: sentenceOf(error).replace(/\.$/, ''), remarks: [] };
  }
}

function show(seen: readonly Seen[], { terminal, redactor }: Context): void {
  // Redacted before anything is cut: a part of a secret would not be known.
  const hidden = (text: string) => safeLine(redactor.redact(text));
  const cells = (one: Seen) => cellsOf(one).map(hidden);
  const columns = process.stderr.columns || 80;
  const kept = seen.filter(({ why }) => why === undefined);
  const left = seen.filter(({ why }) => why !== undefined);
  const lines = [
    ...inColumns(kept.slice(0, SHOWN).map(cells)).map((line) => `  ${line}`),
    ...more(kept),
    ...kept.flatMap(({ id, remarks }) => remarks.map((text) => `! ${safeLine(id)}: ${hidden(text)}`)),
    ...left
      .slice(0, SHOWN)
      .map((one) => `Left out: ${cells(one).join('  ').trimEnd()}: ${hidden(one.why ?? '')}.`),
    ...more(left),
  ];
  const text = lines.map((line) => `${truncate(line, columns - 1)}\n`).join('');
  terminal.err(text);
}

function cellsOf({ id, envelope }: Seen): string[] {
  const waiting = (envelope?.signers ?? []).filter((one) => one.status !== 'SIGNED').map(nameOf);
  const [first = '', ...others] = waiting;
  const whom = others.length > 1 ? `${first} +${others.length}` : waiting.join(' and ');
  return [id, envelope?.subject || envelope?.templateName || '', whom && `for ${whom}`];
}

function more(all: readonly unknown[]): string[] {
  return all.length > SHOWN ? [`  … and ${all.length - SHOWN} more`] : [];
}
