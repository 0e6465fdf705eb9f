import { createHash } from 'node:crypto';
import type { Envelope, Template } from '../../api/schemas.ts';
import { UsageError } from '../../kernel/errors.ts';
import { jsonText } from '../../output/json.ts';

/** About 12,000 tokens. Several clients cut an answer at 25,000. */
const MAX_PAGE_BYTES = 40_000;
/** Items whose status changes may leave a list between two pages; it is unlikely for three in a row. */
const ANCHOR_COUNT = 3;

/** A part of a list, and where the next part begins. */
export type ResultPage = {
  data: unknown[];
  more?: true;
  nextCursor?: string;
};

/** Where a page ended: the time of its last item, and the hashes of its last few ids. */
export interface Cursor {
  createdAt: number | undefined;
  anchors: readonly string[];
}

interface Item {
  id: string;
  createdAt?: string | null | undefined;
}

interface PageOptions {
  limit: number;
  cursor: Cursor | undefined;
  /** Whether the source ended because of a limit of its own. */
  hasMore?: (() => boolean) | undefined;
}

/**
 * Returns the items after the cursor, at most `limit` and at most 40,000 bytes of them, and a cursor when there are more.
 * @throws UsageError when none of the items at which the previous page ended is in the list any more.
 */
export async function pageOf<T extends Item>(
  items: AsyncIterable<T>,
  lean: (item: T) => unknown,
  { limit, cursor, hasMore }: PageOptions,
): Promise<ResultPage> {
  const data: unknown[] = [];
  const taken: T[] = [];
  let bytes = 0;
  const rest = cursor === undefined ? items : after(items, cursor);
  for await (const item of rest) {
    const shown = lean(item);
    bytes += Buffer.byteLength(jsonText(shown));
    if (data.length === limit || (bytes > MAX_PAGE_BYTES && data.length > 0))
      return { data, more: true, nextCursor: cursorAfter(taken) };
    data.push(shown);
    taken.push(item);
  }
  if (!hasMore?.()) return { data };
  return { data, more: true, ...(taken.length > 0 && { nextCursor: cursorAfter(taken) }) };
}

/** @throws UsageError when the text is not a cursor of an earlier answer. */
export function cursorFrom(text: string | undefined): Cursor | undefined {
  if (text === undefined) return undefined;
  const [time, ...anchors] = text.split('.');
  if (!/^\d{0,16}(?:\.[\da-f]{16}){1,3}$/.test(text))
    throw new UsageError('The cursor is not one of an earlier answer.', {
      hint: 'Pass `nextCursor` as it is, with the same arguments, or leave it out to start again.',
    });
  return { createdAt: time ? Number(time) : undefined, anchors };
}

/** What an assistant needs of an envelope in a list: `get` has the rest. */
export function leanEnvelope(envelope: Envelope): Record<string, unknown> {
  const { message: _, signers, ...rest } = envelope;
  const shown = Object.entries(rest).filter(([name]) => !name.endsWith('StorageKey'));
  return withoutEmpty({
    ...Object.fromEntries(shown),
    signers: signers?.map(({ id: _id, ...signer }) => withoutEmpty(signer)),
  });
}

/** What an assistant needs of a template in a list: `templates` with its id has the fields. */
export function leanTemplate({ fields: _, ...template }: Template): Record<string, unknown> {
  return withoutEmpty(template);
}

function withoutEmpty(value: object): Record<string, unknown> {
  const isEmpty = (one: unknown) =>
    one === null || one === undefined || (typeof one === 'object' && Object.keys(one).length === 0);
  return Object.fromEntries(Object.entries(value).filter(([, one]) => !isEmpty(one)));
}

/** The items behind the last anchor. The order is the service's, so the time of an item says nothing about its place. */
async function* after<T extends Item>(
  items: AsyncIterable<T>,
  { anchors }: Cursor,
): AsyncGenerator<T, void, undefined> {
  let isPast = false;
  let missing = new Set(anchors);
  for await (const item of items) {
    const anchor = anchorOf(item);
    if (missing.has(anchor)) {
      isPast = true;
      // Anchors are in the order of the list: those before this one are gone.
      missing = new Set(anchors.slice(anchors.indexOf(anchor) + 1));
    } else if (isPast) yield item;
  }
  if (!isPast)
    throw new UsageError('The list has changed since: the items at which the last answer ended are gone.', {
      hint: 'Start again without `cursor`.',
    });
}

function cursorAfter(taken: readonly Item[]): string {
  const last = taken.slice(-ANCHOR_COUNT);
  const time = Date.parse(last.at(-1)?.createdAt ?? '');
  return [time >= 0 ? time : '', ...last.map(anchorOf)].join('.');
}

/** A hash: short whatever the service uses as an id. */
function anchorOf({ id }: Item): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 16);
}
