import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { accountEnvelopes } from '../../src/statistics/account-envelopes.ts';
import { indexOf, ModelService } from '../envelope-index/model-service.ts';
import { selectionOf } from '../support/selection.ts';

let service: ModelService;
let folder: string;
beforeEach(async () => {
  service = await ModelService.start({ items: 'summary' });
  folder = await mkdtemp(join(tmpdir(), 'esign-account-'));
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

type Options = Parameters<typeof accountEnvelopes>[1];

/** Returns the IDs of all returned envelopes and of the selected ones, and the number of requests. */
async function read(
  { selection = {}, scope = 'selected' }: Partial<Options>,
  touched: readonly string[] = [],
): Promise<{ ids: string[]; selected: string[]; states: (string | null | undefined)[]; requests: number }> {
  const { index, feed } = indexOf(service, folder);
  for (const id of touched) feed.touched(id, 'DECLINED');
  const before = service.requests;
  const account = await accountEnvelopes(index, { selection, scope });
  const envelopes = [];
  for await (const one of account.envelopes) envelopes.push(one);
  await feed.finish();
  envelopes.sort((a, b) => (a.id < b.id ? -1 : 1));
  return {
    ids: envelopes.map(({ id }) => id),
    selected: envelopes.filter(account.isSelected).map(({ id }) => id),
    states: envelopes.map(({ status }) => status),
    requests: service.requests - before,
  };
}
const ofSale = { selection: selectionOf({ template: 'tmpl_sale' }) };

it('reads again only the selected envelopes that are still active', async () => {
  service.make({ templateId: 'tmpl_sale' });
  service.make({ templateId: 'tmpl_sale', status: 'DECLINED' });
  service.make({ templateId: 'tmpl_sale', status: 'COMPLETED' });
  service.make({ templateId: 'tmpl_lease' });
  service.make({ templateId: 'tmpl_lease' });
  expect(await read(ofSale)).toMatchObject({ requests: 1 + 5, ids: ['env_0', 'env_1', 'env_2'] });
  service.move('env_0', 'IN_PROGRESS');
  // A page of the list, and one active envelope.
  expect(await read(ofSale)).toMatchObject({
    requests: 1 + 1,
    states: ['IN_PROGRESS', 'DECLINED', 'COMPLETED'],
  });
  // A webhook has reported a change of the declined one.
  expect((await read(ofSale, ['env_1'])).requests).toBe(1 + 2);
});

it('returns the other envelopes only if all are requested', async () => {
  service.make({ templateId: 'tmpl_sale' });
  service.make({ templateId: 'tmpl_lease' });
  expect(await read(ofSale)).toMatchObject({ ids: ['env_0'], selected: ['env_0'] });
  expect(await read({ ...ofSale, scope: 'all' })).toMatchObject({
    ids: ['env_0', 'env_1'],
    selected: ['env_0'],
  });
});

it('leaves out selected envelopes whose status or metadata has changed since', async () => {
  service.make({ metadata: { deal: '42' } });
  service.make({ metadata: { deal: '42' } });
  service.move('env_1', 'COMPLETED');
  const selection = { statuses: ['SENT'], metadata: [['deal', '42']] as const };
  expect((await read({ selection })).selected).toEqual(['env_0']);
  expect((await read({ selection, scope: 'all' })).selected).toEqual(['env_0']);
});

it('selects the envelopes of a run and those that replaced them', async () => {
  service.make();
  service.make();
  service.make({ metadata: { replaces: 'env_0' } });
  const selection = { run: { id: 'run_1', envelopeIds: new Set(['env_0']) } };
  const selected = ['env_0', 'env_2'];
  expect(await read({ selection })).toMatchObject({ ids: selected, selected });
  expect(await read({ selection, scope: 'all' })).toMatchObject({
    ids: ['env_0', 'env_1', 'env_2'],
    selected,
  });
});

it('returns nothing for an account without envelopes', async () => {
  expect(await read({ scope: 'all' })).toMatchObject({ ids: [], requests: 1 });
});
