import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/api/schemas.ts';
import { contactsIn, recentEnvelopes, rolesIn } from '../../src/envelopes/composition.ts';
import { clientFor } from '../support/client.ts';
import { json, startServer } from '../support/server.ts';

const ada = { email: 'ada@example.com', name: 'Ada Lovelace', role: 'Tenant' };
const envelope = (id: string, signers: Envelope['signers'], templateId = 'tmpl_1'): Envelope => ({
  id,
  templateId,
  signers,
  createdAt: new Date().toISOString(),
});

describe('contacts', () => {
  it('contain each address once, with the latest name and every role', () => {
    const envelopes = [
      envelope('1', [{ email: 'ADA@example.com', name: 'ADA@example.com', role: 'Guarantor' }]),
      envelope('2', [ada, { email: 'bo@example.com', name: null }]),
      envelope('3', null),
    ];
    expect(contactsIn(envelopes)).toEqual([
      { email: 'ADA@example.com', name: 'Ada Lovelace', roles: ['Guarantor', 'Tenant'] },
      { email: 'bo@example.com', name: 'bo@example.com', roles: [] },
    ]);
  });

  it('omit the signers of a replaced envelope', () => {
    const replacement = { ...envelope('2', [ada]), metadata: { replaces: '1' } };
    const wrong = envelope('1', [{ ...ada, email: 'adda@example.com' }]);
    expect(contactsIn([replacement, wrong]).map(({ email }) => email)).toEqual(['ada@example.com']);
    // A discarded replacement replaces nothing.
    const dropped = { ...replacement, status: 'CANCELLED', sentAt: null };
    expect(contactsIn([dropped, wrong])).toHaveLength(2);
  });

  it('contain the roles of a template', () => {
    expect(
      rolesIn([envelope('1', [ada]), envelope('2', [{ ...ada, role: 'Buyer' }], 'tmpl_2')], 'tmpl_1'),
    ).toEqual(['Tenant']);
  });

  it.each([
    ['with signers', true, []],
    ['without signers: the latest ten are read one by one', false, 10],
  ])('are read from a list %s', async (_, listsSigners, reads) => {
    const read: string[] = [];
    const at = (index: number) => new Date(Date.now() - index * 60_000).toISOString();
    const server = await startServer((request, response) => {
      const id = /\/envelopes\/(\w+)/.exec(request.path)?.[1];
      if (id !== undefined) {
        read.push(id);
        return json(response, 200, { data: envelope(id, [ada]) });
      }
      const data = Array.from({ length: 15 }, (__, index) => ({
        id: `env${index}`,
        createdAt: at(index),
        ...(listsSigners ? { signers: [ada] } : {}),
      }));
      const pagination = { page: 1, pageSize: 100, total: 15, totalPages: 1 };
      return json(response, 200, { data, meta: { pagination } });
    });
    const recent = await recentEnvelopes(clientFor(server.origin));
    expect(contactsIn(recent).map((one) => one.email)).toEqual(['ada@example.com']);
    expect(read).toHaveLength(listsSigners ? 0 : Number(reads));
    await server.close();
  });
});
