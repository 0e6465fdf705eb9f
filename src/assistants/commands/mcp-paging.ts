import type { Envelope, Template } from '../../api/schemas.ts';
import { shortDigest } from '../../kernel/digest.ts';
import { UsageError } from '../../kernel/errors.ts';
import { jsonText } from '../../output/json.ts';

/** About 12,000 tokens. Several clients truncate results at 25,000. */
const MAX_PAGE_BYTES = 40_000;
/** An item may leave the list between two pages if its status changes. Three in a row are unlikely to. */
const ANCHOR_COUNT = 3;

/** A part of a list, and the cursor of the next part. */
export type ResultPage = {
  data: unknown[];
  more?: true;
  nextCursor?: string;
};

/** The end of a page: the time of its last item, and the hashes of its last few IDs, which may be long. */
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
  /** True if the source stopped at a limit and has more items. */
  hasMore?: (() => boolean) | undefined;
}

/**
 * Returns the items after the cursor, up to `limit` and 40,000 bytes, and a cursor if there are more.
 * @throws UsageError if the last items of the previous page are no longer in the list.
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

/** @throws UsageError if the text is not a cursor. */
export function cursorFrom(text: string | undefined): Cursor | undefined {
  if (text === undefined) return undefined;
  const [time, ...anchors] = text.split('.');
  if (!/^\d{0,16}(?:\.[\da-f]{16}){1,3}$/.test(text))
    throw new UsageError('The cursor is not valid.', {
      hint: 'Pass `nextCursor` from the previous result unchanged, with the same arguments, or leave it out to start over.',
    });
  return { createdAt: time ? Number(time) : undefined, anchors };
}

/** Returns the fields of an envelope in a list. `get` returns the rest. */
export function envelopeListItem(envelope: Envelope): Record<string, unknown> {
  const { message: _, signers, ...rest } = envelope;
  const shown = Object.entries(rest).filter(([name]) => !name.endsWith('StorageKey'));
  return withoutEmpty({
    ...Object.fromEntries(shown),
    signers: signers?.map(({ id: _id, ...signer }) => withoutEmpty(signer)),
  });
}

/** Returns a template without its fields. `templates` with an ID returns them. */
export function templateListItem({ fields: _, ...template }: Template): Record<string, unknown> {
  return withoutEmpty(template);
}

function withoutEmpty(value: object): Record<string, unknown> {
  const isEmpty = (one: unknown) =>
    one === null || one === undefined || (typeof one === 'object' && Object.keys(one).length === 0);
  return Object.fromEntries(Object.entries(value).filter(([, one]) => !isEmpty(one)));
}

/** Yields the items after the last anchor. The service decides the order, so times don't show positions. */
async function* after<T extends Item>(
  items: AsyncIterable<T>,
  { anchors }: Cursor,
): AsyncGenerator<T, void, undefined> {
  let isPast = false;
  let missing = new Set(anchors);
  for await (const item of items) {
    const anchor = shortDigest(item.id);
    if (missing.has(anchor)) {
      isPast = true;
      // Anchors are in list order, so the earlier ones are gone.
      missing = new Set(anchors.slice(anchors.indexOf(anchor) + 1));
    } else if (isPast) yield item;
  }
  if (!isPast)
    throw new UsageError('The list has changed: the last items on the previous page are gone.', {
      hint: 'Start over without `cursor`.',
    });
}

function cursorAfter(taken: readonly Item[]): string {
  const last = taken.slice(-ANCHOR_COUNT);
  const time = Date.parse(last.at(-1)?.createdAt ?? '');
  return [time >= 0 ? time : '', ...last.map(({ id }) => shortDigest(id))].join('.');
}
