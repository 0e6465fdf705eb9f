import { beforeAll, describe, expect, it } from 'vitest';
import { parseJson } from '../../src/kernel/json.ts';
import { Home, linesOf } from '../support/cli.ts';
import { answerPage, type FakeService, fakeService } from '../support/fake-service.ts';
import { json } from '../support/server.ts';

const templates = [
  { id: 'tmpl_lease', name: 'Léase', pageCount: 2, unknown: [1] },
  { id: 'tmpl_nda', name: 'Confidentiality' },
  { id: 'tmpl_nda2', name: 'confidentiality' },
  {
    id: 'tmpl_3',
    name: 'Other',
    description: 'An undertaking',
    roles: ['Clerk'],
    fields: [{ fieldId: 'f', type: 'SIGNATURE', label: 'Sign here', page: 2, required: true }],
  },
];
const envelopes = [
  { id: 'env_1', templateId: 'tmpl_lease', signers: [{ role: 'Tenant' }, { role: 'Landlord' }] },
  { id: 'env_2', templateId: 'tmpl_nda', signers: [{ role: 'Buyer' }] },
];
let service: FakeService;
let home: Home;

beforeAll(async () => {
  service = await fakeService((request, response) => {
    const [, topic, id] = request.path.split('/esign')[1]?.split('/') ?? [];
    if (topic === 'envelopes') return answerPage(request, response, envelopes.length, (i) => envelopes[i]);
    if (id === undefined) return answerPage(request, response, templates.length, (i) => templates[i]);
    const found = templates.find((one) => one.id === id);
    if (found) return json(response, 200, { data: found });
    json(response, 404, { error: { code: 'NOT_FOUND', message: 'Template not found' } });
  });
  home = new Home(service.env);
});

it('templates list shows the roles that the service sends', async () => {
  const lines = linesOf((await home.run`templates list`).stdout);
  expect(lines.map((line) => line.split('\t').slice(0, 3))).toContainEqual(['tmpl_3', 'Other', 'Clerk']);
});

describe('templates', () => {
  it('are found by words of their name, description, or ID', async () => {
    const list = async (...words: string[]) => linesOf((await home.run`templates list -q ${words}`).stdout);
    expect(await list()).toEqual(templates.map(({ id }) => id));
    expect(await list('--search', 'UNDER')).toEqual(['tmpl_3']);
    expect(await list('--search', 'lease')).toEqual(['tmpl_lease']);
    expect(await list('--search', 'tmpl_nda')).toEqual(['tmpl_nda', 'tmpl_nda2']);
    expect(await list('-L', '2')).toHaveLength(2);
  });

  it('are shown as sent, with the roles as sent or inferred from earlier envelopes', async () => {
    expect(parseJson((await home.run`templates get tmpl_lease --json`).stdout)).toEqual(templates[0]);
    const inferred = (await home.run`templates get tmpl_lease`).stdout;
    expect(inferred).toMatch(/Tenant, Landlord \(inferred/);
    const sent = (await home.run`templates get tmpl_3`).stdout;
    expect(sent).toMatch(/Clerk\n/);
    expect(sent).toMatch(/Page 2 .*\n +SIGNATURE +Sign here/);
  });

  it('are found only by their IDs', async () => {
    expect((await home.run`templates get nothing`).code).toBe(4);
  });
});
