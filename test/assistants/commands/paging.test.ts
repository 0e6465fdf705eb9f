import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../../src/api/resource-types.ts';
import { envelopeListItem, pageOf } from '../../../src/assistants/commands/mcp-paging.ts';

type Item = { id: string; text?: string };

async function* streamOf(items: readonly Item[]) {
  yield* items;
  await Promise.resolve();
}

const numbered = (count: number, text?: string): Item[] =>
  Array.from({ length: count }, (_, at) => ({ id: `env_${at}`, ...(text !== undefined && { text }) }));

/** Returns one page of these items after the given cursor. */
function page(items: readonly Item[], limit: number, cursor = '0') {
  return pageOf(streamOf(items), (item) => item, { limit, offset: Number(cursor) });
}

async function pages(items: readonly Item[], limit: number): Promise<unknown[][]> {
  const all: unknown[][] = [];
  for (let cursor: string | undefined, isLast = false; !isLast; ) {
    const { data, nextCursor } = await page(items, limit, cursor);
    all.push(data);
    [cursor, isLast] = [nextCursor, nextCursor === undefined];
  }
  return all;
}

describe('pages of a list', () => {
  it('contain every item once, in order', async () => {
    const items = numbered(23);
    for (const limit of [1, 2, 5, 22, 23, 24])
      expect((await pages(items, limit)).flat(), String(limit)).toEqual(items);
    expect(await page(items, 23)).toEqual({ data: items });
    expect(await page([], 5)).toEqual({ data: [] });
  });

  it('have at most 40,000 bytes, and are never empty', async () => {
    const many = await pages(numbered(30, 'x'.repeat(4000)), 100);
    expect(many.map((one) => one.length)).toEqual([9, 9, 9, 3]);
    const large = await pages(numbered(3, 'x'.repeat(100_000)), 100);
    expect(large.map((one) => one.length)).toEqual([1, 1, 1]);
  });

  it('report that there is more if the source stopped early', async () => {
    const options = { limit: 5, offset: 0, hasMore: () => true };
    const { more, nextCursor } = await pageOf(streamOf(numbered(3)), (item) => item, options);
    expect(more).toBe(true);
    expect((await page(numbered(5), 5, nextCursor)).data).toEqual(numbered(5).slice(3));
  });

  it('contain envelopes without nulls, storage keys, messages, or signer IDs', () => {
    const envelope: Envelope = {
      id: 'env_1',
      status: 'SENT',
      message: 'Please sign.',
      completedAt: null,
      metadata: {},
      signedDocumentStorageKey: 'org/signed.pdf',
      signers: [{ id: 'sig_1', email: 'a@b.c', role: 'Signer', declineReason: null }],
    };
    expect(envelopeListItem(envelope)).toEqual({
      id: 'env_1',
      status: 'SENT',
      signers: [{ email: 'a@b.c', role: 'Signer' }],
    });
  });
});
