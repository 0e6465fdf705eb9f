import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { needsReader, pagesOf } from '../sandbox/reader.ts';
import { Home } from '../support/cli.ts';
import { fakeService } from '../support/fake-service.ts';
import { json } from '../support/server.ts';

const home = new Home();
beforeAll(() => home.sandbox());
afterAll(() => home.close());

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

it('copies templates with GET requests only, and nothing from envelopes but roles', async () => {
  const methods = new Set<string>();
  const service = await fakeService((request, response) => {
    methods.add(request.method);
    const pagination = { page: 1, pageSize: 100, total: 1, totalPages: 1 };
    if (request.path.includes('/templates'))
      return json(response, 200, { data: [TEMPLATE], meta: { pagination } });
    const signers = [{ id: 's', email: 'secret@person.example', name: 'Secret Person', role: 'Tenant' }];
    json(response, 200, { data: [{ id: 'env_x', templateId: 'tmpl_nda', signers }], meta: { pagination } });
  });
  try {
    const { ESIGN_BASE_URL: url = '', ESIGN_API_KEY: key = '' } = service.env;
    await home.run(['profiles', 'add', 'acme', '--base-url', url, '--api-key-file', '-', '--no-verify'], {
      input: key,
    });
    const file = home.path('templates.json');
    expect((await home.run(['sandbox', 'seed', '--from', 'acme', '--out', file])).code).toBe(0);
    const text = await readFile(file, 'utf8');
    expect(text).not.toMatch(/secret|env_x/i);
    const seed = parseJson(text);
    expect(isRecord(seed) && seed.templates).toEqual([{ ...TEMPLATE, roles: ['Tenant'] }]);

    expect(await home.json`sandbox seed --from acme --json`).toMatchObject({ templates: 1, envelopes: 0 });
    expect(await home.json`templates get tmpl_nda --profile sandbox --json`).toMatchObject(TEMPLATE);
    expect([...methods]).toEqual(['GET']);
  } finally {
    await service.server.close();
  }
});

it('marks each page of a stand-in', needsReader, async () => {
  const seed = {
    templates: [{ ...TEMPLATE, id: 'tmpl_marked' }],
    envelopes: [{ id: 'env_s', template: 'tmpl_marked' }],
  };
  await writeFile(home.path('seed.json'), JSON.stringify(seed));
  await home.json`sandbox seed seed.json --json`;
  await home.run`envelopes download env_s --what document -o stand-in.pdf --force`;
  const pages = pagesOf(await readFile(home.path('stand-in.pdf')));
  expect(pages.filter((page) => page.includes('STAND-IN'))).toHaveLength(3);
});

it('refuses both a file and a profile, and neither', async () => {
  expect((await home.run`sandbox seed`).code).toBe(2);
  expect((await home.run`sandbox seed seed.json --from acme`).code).toBe(2);
  expect((await home.run`sandbox seed --from unknown`).code).toBe(2);
});
