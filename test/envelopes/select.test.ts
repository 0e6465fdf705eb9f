import { describe, expect, it } from 'vitest';
import type { Envelope, Signer } from '../../src/api/schemas.ts';
import { matchedSigners, selectEnvelopes } from '../../src/envelopes/select.ts';
import { clientFor } from '../support/client.ts';
import { type Criteria, selectionOf } from '../support/selection.ts';

const lukasz = { name: 'Łukasz Řehoř', email: 'lr@example.com' };
const ada = { name: 'Ada', email: 'ada@example.org' };
const all: Envelope[] = [
  { id: 'env_1', subject: 'Please sign: Contract 1377', signers: [ada, lukasz] },
  { id: 'env_2', subject: 'Lease of the barn', templateId: 'tmpl_lease', signers: [ada] },
  { id: 'env_3', templateName: 'Loan', metadata: { deal: 4711, parties: [{ town: 'Łódź' }] }, signers: [] },
];

/** The matching IDs, and those that were read one by one. `whole` has the signers that the list omits. */
async function found(criteria: Criteria, listed: readonly Envelope[] = all, stored = all) {
  const client = clientFor('http://127.0.0.1:1');
  const read: string[] = [];
  async function* list() {
    yield* listed;
    await Promise.resolve();
  }
  const get = (id: string) => {
    read.push(id);
    return Promise.resolve(stored.find((one) => one.id === id) ?? { id });
  };
  const ids: string[] = [];
  const listing = { ...client, envelopes: { ...client.envelopes, list, get } };
  for await (const { id } of selectEnvelopes(listing, selectionOf(criteria))) ids.push(id);
  return { ids, read };
}

describe('a search', () => {
  it.each([
    ['lukasz', ['env_1']],
    ['rehor 1377', ['env_1']],
    ['example.org', ['env_1', 'env_2']],
    ['lease', ['env_2']],
    ['tmpl_lease', ['env_2']],
    ['loan', ['env_3']],
    ['4711', ['env_3']],
    ['lodz', ['env_3']],
    ['deal', []],
    ['env_2', ['env_2']],
    ['2', ['env_2']],
  ])('finds the envelopes for %s', async (search, ids) => {
    expect((await found({ search })).ids).toEqual(ids);
  });

  it("reads an envelope whose list item lacks signers only if the other conditions don't decide", async () => {
    const bare = all.map(({ signers: _, ...rest }) => rest);
    expect(await found({ search: 'lukasz' }, bare)).toEqual({
      ids: ['env_1'],
      read: ['env_1', 'env_2', 'env_3'],
    });
    expect(await found({ search: 'barn' }, bare)).toEqual({ ids: ['env_2'], read: ['env_1', 'env_3'] });
    expect(await found({ signer: 'LUKASZ ř' }, bare)).toMatchObject({ ids: ['env_1'] });
    expect(await found({ statuses: ['SENT', 'DRAFT'], search: 'lukasz' }, bare)).toEqual({
      ids: [],
      read: [],
    });
  });

  it.each([[null], [[]]])('reads an envelope whose list item shows its signers as %j', async (signers) => {
    const bare = all.map((one) => ({ ...one, signers }));
    expect(await found({ signer: 'lr@example.com' }, bare)).toMatchObject({ ids: ['env_1'] });
  });

  it('reads an envelope whose list item lacks the template, the creation time, or the expiration', async () => {
    const whole = { id: 'env_9', status: 'SENT', templateId: 'tmpl_1', signers: [] };
    const times = { createdAt: '2026-01-02T00:00:00Z', expiresAt: '2026-01-03T00:00:00Z' };
    const envelope: Envelope = { ...whole, ...times };
    const cases: [Criteria, Envelope][] = [
      [{ template: 'tmpl_1' }, { ...envelope, templateId: null }],
      [{ createdAfter: () => Date.UTC(2026, 0) }, { ...envelope, createdAt: undefined }],
      [{ expiresBefore: () => Date.UTC(2026, 1) }, { ...envelope, expiresAt: undefined }],
    ];
    for (const [selection, item] of cases)
      expect(await found(selection, [item], [envelope])).toEqual({ ids: ['env_9'], read: ['env_9'] });
    expect(await found({ template: 'tmpl_1', statuses: ['DRAFT'] }, [whole])).toMatchObject({ read: [] });
  });

  it('returns the signers who matched, and what each of them did', () => {
    const partsOf = (criteria: Criteria, ...signers: Signer[]) =>
      matchedSigners(selectionOf(criteria))({ id: 'env_1', signers }).map(({ part }) => part);
    expect(partsOf({ search: 'rehor' }, ada, lukasz)).toEqual(['Łukasz Řehoř']);
    expect(partsOf({ search: 'lr@example.com' }, lukasz)).toEqual(['lr@example.com']);
    expect(partsOf({ signer: 'example.com' }, lukasz)).toEqual(['lr@example.com']);
    expect(partsOf({ search: '1377' }, lukasz)).toEqual([]);
    expect(partsOf({}, lukasz)).toEqual([]);
  });

  it('returns only the one signer who matches all words, if there is one', () => {
    const [maria, silva] = [{ name: 'Maria Rossi' }, { name: 'Lena Silva' }];
    const both = { name: 'Maria Silva' };
    const found = (...signers: Signer[]) =>
      matchedSigners(selectionOf({ search: 'maria silva' }))({ id: 'env_1', signers }).map(
        ({ signer }) => signer,
      );
    expect(found(maria, both, silva)).toEqual([both]);
    expect(found(maria, silva)).toEqual([maria, silva]);
  });
});
