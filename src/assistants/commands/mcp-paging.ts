import * as z from 'zod';
import type { Envelope, Template } from '../../api/resource-types.ts';
import { jsonText } from '../../output/json.ts';

/** About 12,000 tokens. Several clients truncate results at 25,000. */
const MAX_PAGE_BYTES = 40_000;

/** The argument for the next part of a list: the number of items before it. */
export const cursor = z
  .string()
  .regex(/^\d{1,9}$/)
  .optional()
  .describe('nextCursor from the previous result');

/** A part of a list, and the cursor of the next part. */
export type ResultPage = {
  data: unknown[];
  more?: true;
  nextCursor?: string;
};

interface PageOptions {
  /** The number of items to skip. */
  offset: number;
  limit: number;
  /** Returns true if the source stopped at a limit and has more items. */
  hasMore?: (() => boolean) | undefined;
}

/** Returns the items after the offset, up to `limit` and 40,000 bytes, and a cursor if there are more. */
export async function pageOf<T>(
  items: AsyncIterable<T>,
  lean: (item: T) => unknown,
  { offset, limit, hasMore }: PageOptions,
): Promise<ResultPage> {
  const data: unknown[] = [];
  const withMore = (): ResultPage => ({ data, more: true, nextCursor: String(offset + data.length) });
  let bytes = 0;
  let position = 0;
  for await (const item of items) {
    if (position++ < offset) continue;
    const shown = lean(item);
    bytes += Buffer.byteLength(jsonText(shown));
    if (data.length === limit || (bytes > MAX_PAGE_BYTES && data.length > 0)) return withMore();
    data.push(shown);
  }
  return hasMore?.() ? withMore() : { data };
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
