import { describe, expect, it } from 'vitest';
import {
  lastSigners,
  numberTurns,
  readRecentEnvelopes,
  rolesUsedWithTemplate,
} from '../../src/envelopes/signer-suggestions.ts';
import { clientFor } from '../support/client.ts';
import { json, startServer } from '../support/server.ts';

const signer = (name: string, role?: string) => ({
  email: `${name.toLowerCase()}@example.com`,
  name,
  ...(role === undefined ? {} : { role }),
});

describe('suggestions from recent envelopes', () => {
  it('contain the latest signer of each role', () => {
    const envelopes = [
      { id: 'env_3', signers: [signer('Ada', 'Tenant')] },
      { id: 'env_2', signers: [signer('Bo', 'Tenant'), signer('Cy', 'Landlord'), signer('Di')] },
    ];
    expect([...lastSigners(envelopes)]).toEqual([
      ['Tenant', signer('Ada', 'Tenant')],
      ['Landlord', signer('Cy', 'Landlord')],
    ]);
  });

  it('omit the signers of a replaced envelope', () => {
    const envelopes = [
      { id: 'env_2', metadata: { replaces: 'env_1' }, signers: [signer('Cy', 'Landlord')] },
      { id: 'env_1', signers: [signer('Wrong', 'Tenant')] },
    ];
    expect([...lastSigners(envelopes).keys()]).toEqual(['Landlord']);
  });

  it('contain the roles of a template', () => {
    const envelopes = [
      { id: 'env_2', templateId: 'tmpl_1', signers: [signer('Ada', 'Tenant'), signer('Bo', 'Landlord')] },
      { id: 'env_1', templateId: 'tmpl_2', signers: [signer('Cy', 'Buyer')] },
    ];
    expect(rolesUsedWithTemplate(envelopes, 'tmpl_1')).toEqual(['Tenant', 'Landlord']);
  });

  it.each([
    ['with signers', true, 1],
    ['without signers', false, 11],
  ])('are read from a list %s', async (_, listsSigners, requests) => {
    const whole = (id: string) => ({
      id,
      createdAt: new Date().toISOString(),
      signers: [signer('Ada', 'Tenant')],
    });
    const server = await startServer(({ path }, response) => {
      const id = /env_\d+$/.exec(path)?.[0];
      if (id !== undefined) return json(response, 200, { data: whole(id) });
      const data = Array.from({ length: 30 }, (_one, index) => whole(`env_${index}`));
      const items = data.map(({ signers, ...rest }) => (listsSigners ? { ...rest, signers } : rest));
      json(response, 200, { data: items, meta: { pagination: { totalPages: 1 } } });
    });
    const found = await readRecentEnvelopes(clientFor(server.origin));
    expect(lastSigners(found).get('Tenant')?.name).toBe('Ada');
    expect(server.seen).toHaveLength(requests);
  });
});

it('orders a chosen signer first, and the others as listed', () => {
  const signers = [signer('Ada'), signer('Bo'), signer('Cy')];
  const [, bo = signer('')] = signers;
  expect(numberTurns(signers, bo).map(({ order }) => order)).toEqual([2, 1, 3]);
});
