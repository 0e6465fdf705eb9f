import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { needsReader, pagesOf } from '../sandbox/reader.ts';
import { Home } from '../support/cli.ts';
import { fakeService } from '../support/fake-service.ts';
import { json } from '../support/server.ts';

const home = new Home();

const TEMPLATE = {
  id: 'tmpl_nda',
  name: 'Acme NDA',
  description: 'Ours',
  pageCount: 3,
  fields: [
    { fieldId: 'f1', type: 'SIGNATURE', label: 'Sign here', required: true, page: 3 },
    { fieldId: 'f2', type: 'STAMP', label: 'Company stamp', required: false, page: 2 },
  ],
};

/** Starts a sandbox like an account with one template and one envelope. Returns the methods of its requests. */
async function startLike(): Promise<string[]> {
  const methods = new Set<string>();
  const service = await fakeService((request, response) => {
    methods.add(request.method);
    const pagination = { page: 1, pageSize: 100, total: 1, totalPages: 1 };
    if (request.path.includes('/templates'))
      return json(response, 200, { data: [TEMPLATE], meta: { pagination } });
    const signers = [{ id: 's', email: 'secret@person.example', name: 'Secret Person', role: 'Tenant' }];
    json(response, 200, { data: [{ id: 'env_x', templateId: 'tmpl_nda', signers }], meta: { pagination } });
  });
  const { ESIGN_BASE_URL: url = '', ESIGN_API_KEY: input = '' } = service.env;
  await home.run(['profiles', 'add', 'acme', '--base-url', url, '--api-key-file', '-', '--no-verify'], {
    input,
  });
  await home.sandbox(['--like', 'acme']);
  return [...methods];
}

it('starts with stand-ins for the templates of an account, read with GET only; of its envelopes, only roles are used', async () => {
  expect(await startLike()).toEqual(['GET']);
  await home.run`profiles use sandbox`;
  expect(await home.json`templates list`).toMatchObject([{ ...TEMPLATE, roles: ['Tenant'] }]);
  expect(await home.json`envelopes list`).toEqual([]);
  expect(await home.json`sandbox mails`).toEqual([]);
});

it('marks each page of a stand-in', needsReader, async () => {
  const create = ['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'Ada <ada@b.example>'];
  const { id } = await home.object(create);
  await home.run`envelopes download ${String(id)} --what document -o stand-in.pdf`;
  const pages = pagesOf(await readFile(home.path('stand-in.pdf')));
  expect(pages.filter((page) => page.includes('STAND-IN'))).toHaveLength(3);
});

it('fails for an unknown profile', async () => {
  expect((await home.run`sandbox start --ephemeral --port 0 --like unknown --json`).code).toBeGreaterThan(0);
});
