import { describe, expect, it } from 'vitest';
import type { Template } from '../../src/api/schemas.ts';
import { ServiceError } from '../../src/kernel/errors.ts';
import { findTemplate } from '../../src/templates/find.ts';
import { clientFor } from '../support/client.ts';

/** Finds a template among these. */
function find(all: readonly Template[], idOrName: string) {
  const client = clientFor('http://127.0.0.1:1');
  async function* list() {
    yield* all;
    await Promise.resolve();
  }
  const get = (id: string) => {
    const found = all.find((one) => one.id === id);
    return found
      ? Promise.resolve(found)
      : Promise.reject(new ServiceError('NOT_FOUND', 'no', { status: 404 }));
  };
  return findTemplate({ ...client, templates: { list, get } }, idOrName);
}

describe('a template', () => {
  const all = [
    { id: 'tmpl_1', name: 'Lease' },
    { id: 'tmpl_2', name: 'Contrato de arrendamiento (España)' },
    { id: 'tmpl_3', name: 'LEASE' },
    { id: 'Lease', name: null },
  ];

  it('is found by its ID before any name', async () => {
    expect(await find(all, 'Lease')).toEqual(all[3]);
  });

  it('is found by its name, with any case and accents', async () => {
    expect(await find(all, 'contrato de arrendamiento (espana)')).toEqual(all[1]);
  });

  it('is refused if several have the name, or none', async () => {
    await expect(find(all, 'lease')).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('"lease"') as unknown,
      hint: 'Use an ID instead: tmpl_1, tmpl_3.',
    });
    await expect(find(all, 'lea')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
