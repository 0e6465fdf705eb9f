import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../../src/kernel/json.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { needsReader, textIn } from '../documents/reader.ts';
import { plainPdf, protectedPdf } from '../documents/uploads.ts';

let sandbox: Sandbox;
let folder: string;
const hostile = '<script>alert(1)</script>"\'&';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-templates-'));
  sandbox = await startSandbox({ dataDir: folder, host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await sandbox.close();
  await rm(folder, { recursive: true, force: true });
});

const at = (path: string) => new URL(path, sandbox.dashboardUrl).href;

async function api(path: string, body?: unknown, key = sandbox.apiKey) {
  const reply = await fetch(at(path), {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const json: unknown = await reply.json();
  if (!isRecord(json)) throw new Error('no object');
  const { data, error } = json;
  return {
    status: reply.status,
    data: isRecord(data) ? data : {},
    list: Array.isArray(data) ? data : [],
    error,
  };
}

async function token(): Promise<string> {
  return /name="form" value="(\w+)"/.exec(await (await fetch(at('/'))).text())?.[1] ?? '';
}

async function post(path: string, fields: Record<string, string>) {
  const body = new URLSearchParams({ form: await token(), ...fields });
  return fetch(at(path), { method: 'POST', body, redirect: 'manual' });
}

async function upload(pdf: Uint8Array, fields: Record<string, string> = {}) {
  const body = new FormData();
  for (const [name, value] of Object.entries({ form: await token(), roles: 'Seller, Buyer', ...fields }))
    body.set(name, value);
  body.set('pdf', new File([new Uint8Array(pdf)], 'sale of a boat.pdf', { type: 'application/pdf' }));
  return fetch(at('/templates'), { method: 'POST', body, redirect: 'manual' });
}

async function uploaded(): Promise<string> {
  const reply = await upload(await plainPdf());
  expect(reply.status).toBe(303);
  return reply.headers.get('location')?.split('/').at(-1) ?? '';
}

const signature = {
  id: '',
  type: 'SIGNATURE',
  label: 'Signature',
  role: 'Seller',
  page: '1',
  x: '64',
  y: '600',
  width: '180',
  height: '48',
  required: 'yes',
  options: '',
};
const color = {
  ...signature,
  type: 'DROPDOWN',
  label: 'Colour',
  role: 'Buyer',
  page: '2',
  x: '100.5',
  y: '200',
  height: '20',
  options: 'red\r\nblue\r\n',
};

function form(rows: Record<string, string>[], more: Record<string, string> = {}): Record<string, string> {
  const words = { name: 'Sale', description: 'Of a boat', roles: 'Seller, Buyer' };
  const parts = rows.flatMap((row, index) =>
    Object.entries(row).map(([name, value]) => [`${index}.${name}`, value] as const),
  );
  return { ...words, ...Object.fromEntries(parts), ...more };
}

/** The first template creates the folder. */
const filesKept = () => readdir(join(folder, 'templates')).catch(() => []);

describe('a template from a PDF', () => {
  it('is listed once saved, and its envelopes have values at the fields', needsReader, async () => {
    const id = await uploaded();
    const listed = async () =>
      (await api('/api/v1/esign/templates?pageSize=100')).list.some((one) => isRecord(one) && one.id === id);
    expect(await listed()).toBe(false);
    const signers = [
      { email: 's@x.org', name: 'Sel Ler', role: 'Seller' },
      { email: 'b@x.org', name: 'Buy Er', role: 'Buyer' },
    ];
    const early = await api('/api/v1/esign/envelopes', { templateId: id, signers });
    expect(early).toMatchObject({
      status: 400,
      error: { details: { templateId: [expect.stringContaining('not active') as unknown] } },
    });
    const saved = await post(`/templates/${id}`, form([color, signature]));
    expect([saved.status, saved.headers.get('location')]).toEqual([303, `/templates/${id}?saved`]);
    expect(await listed()).toBe(true);
    expect((await api(`/api/v1/esign/templates/${id}`)).data).toMatchObject({
      name: 'Sale',
      description: 'Of a boat',
      pageCount: 2,
      fields: [
        { fieldId: 'signature_1', type: 'SIGNATURE', label: 'Signature', required: true, page: 1 },
        { fieldId: 'colour_1', type: 'DROPDOWN', label: 'Colour', required: true, page: 2 },
      ],
    });
    const { data } = await api('/api/v1/esign/envelopes', { templateId: id, signers, sendImmediately: true });
    const values = { colour_1: 'blue' };
    await api(`/__sandbox/envelopes/${String(data.id)}/sign`, { signer: 's@x.org' });
    const { data: done } = await api(`/__sandbox/envelopes/${String(data.id)}/sign`, {
      signer: 'b@x.org',
      values,
    });
    expect(done).toMatchObject({ status: 'COMPLETED', templateName: 'Sale' });
    const { list } = await api(`/__sandbox/mails?envelopeId=${String(data.id)}`);
    const link = list.flatMap((mail) =>
      isRecord(mail) ? (/http:\S+(\/sign\/\S+)/.exec(String(mail.text))?.[1] ?? []) : [],
    )[0];
    const pdf = new Uint8Array(await (await fetch(at(`${String(link)}/signed.pdf`))).arrayBuffer());
    expect(textIn(pdf, { page: 1, x: 64, y: 600, width: 180, height: 48 })).toContain('Signed by Sel Ler');
    expect(textIn(pdf, { page: 2, x: 100.5, y: 200, width: 180, height: 20 })).toBe('blue');
    expect(textIn(pdf, { page: 1, x: 60, y: 60, width: 300, height: 40 })).toBe('Contract of sale');
  });

  it('keeps its fields once it has envelopes; a copy can be changed', async () => {
    const id = await uploaded();
    await post(`/templates/${id}`, form([signature, color]));
    const signers = [{ email: 's@x.org', name: 'S' }];
    await api('/api/v1/esign/envelopes', { templateId: id, signers });
    const refused = await post(`/templates/${id}`, form([signature, { ...color, x: '200' }]));
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('make a copy')]);
    expect(await (await fetch(at(`/templates/${id}`))).text()).toContain('data-locked="true"');
    const copied = await post(`/templates/${id}/copy`, {});
    const path = copied.headers.get('location') ?? '';
    expect(await (await fetch(at(path))).text()).toContain('value="Sale (copy)"');
    const kept = { ...signature, id: 'signature_1', label: 'Sign here', role: 'Buyer' };
    const again = { ...signature, y: '700' };
    expect((await post(path, form([kept, again, color], { roles: 'Buyer, Seller' }))).status).toBe(303);
    const { data } = await api(`/api/v1/esign${path.replace('?saved', '')}`);
    expect(data.fields).toMatchObject([
      { fieldId: 'signature_1', label: 'Sign here' },
      { fieldId: 'signature_2' },
      { fieldId: 'colour_2' },
    ]);
  });

  it('can be removed from the list and restored', async () => {
    const id = await uploaded();
    expect((await post(`/templates/${id}/active`, { active: 'yes' })).status).toBe(400);
    await post(`/templates/${id}`, form([signature, color]));
    const create = () =>
      api('/api/v1/esign/envelopes', { templateId: id, signers: [{ email: 's@x.org', name: 'S' }] });
    await post(`/templates/${id}/active`, { active: 'no' });
    expect((await create()).status).toBe(400);
    await post(`/templates/${id}/active`, { active: 'yes' });
    expect((await create()).status).toBe(201);
  });

  it.each([
    ['no fields', form([]), 'Place at least one field.'],
    ['a role without a field', form([signature]), 'The role Buyer has no field'],
    ['no name', form([signature, color], { name: ' ' }), 'The name must have from 1 to 200 characters.'],
    ['no roles', form([signature], { roles: ' , ' }), 'The template must have 1 to 20 roles.'],
    [
      'an unknown role',
      form([{ ...signature, role: 'X' }, color]),
      'Field 1 (Signature): its role must be a role in the template.',
    ],
    [
      'an unknown type',
      form([{ ...signature, type: 'constructor' }, color]),
      'the type must be one of SIGNATURE',
    ],
    ['no label', form([{ ...signature, label: '' }, color]), 'Field 1 (SIGNATURE): the label must have'],
    [
      'no choices',
      form([signature, { ...color, options: '\r\n' }]),
      'a dropdown must have from 1 to 50 choices',
    ],
    [
      'a field that leaves the page',
      form([{ ...signature, x: '500' }, color]),
      'it must fit on page 1, which is 595 points wide',
    ],
    [
      'a field that is too small',
      form([{ ...signature, width: '20' }, color]),
      'it must be at least 60 points wide and 24 points high',
    ],
    [
      'a page that does not exist',
      form([{ ...signature, page: '3' }, color]),
      'the page must be from 1 to 2',
    ],
    ['page 0', form([{ ...signature, page: '0' }, color]), 'the page must be from 1 to 2'],
    ['invalid numbers', form([{ ...signature, x: '-1' }, color]), 'page, position, and size must be numbers'],
    ['an exponent', form([{ ...signature, x: '1e2' }, color]), 'page, position, and size must be numbers'],
    ['a fraction as a page', form([{ ...signature, page: '1.5' }, color]), 'the page must be from 1 to 2'],
    [
      'too many fields',
      form(Array.from({ length: 201 }, () => signature)),
      'The template can have at most 200 fields.',
    ],
  ])('is not saved with %s', async (_, fields, words) => {
    const id = await uploaded();
    const reply = await post(`/templates/${id}`, fields);
    expect(reply.status).toBe(400);
    expect(await reply.text()).toContain(words);
    expect((await api(`/api/v1/esign/templates/${id}`)).data.fields).toEqual([]);
  });

  it('can be edited without scripts: rows are added and removed, and no input is lost', async () => {
    const id = await uploaded();
    const added = await (
      await post(`/templates/${id}`, form([{ ...signature, label: 'Kept' }], { do: 'add' }))
    ).text();
    expect(added).toContain('name="0.label" value="Kept"');
    expect(added).toContain('name="1.label" value="Signature"');
    const removed = await (
      await post(`/templates/${id}`, form([signature, { ...signature, label: 'Kept' }], { do: 'remove-0' }))
    ).text();
    expect(removed).toContain('name="0.label" value="Kept"');
    expect(removed).not.toContain('name="1.label"');
  });

  it('escapes input', async () => {
    const id = await uploaded();
    const rows = [
      { ...signature, label: hostile },
      { ...color, options: hostile },
    ];
    await post(
      `/templates/${id}`,
      form(rows, { name: hostile, description: hostile, roles: `Seller, Buyer, ${hostile}`, '2.label': 'x' }),
    );
    await post(`/templates/${id}`, form(rows, { name: hostile, description: hostile }));
    for (const path of ['/templates', `/templates/${id}`]) {
      const reply = await fetch(at(path));
      expect(reply.status).toBe(200);
      const text = await reply.text();
      expect(text).not.toContain('<script>alert');
      expect(text).toContain('&lt;script&gt;alert');
      expect(text).not.toMatch(/\son\w+=|style="/);
    }
  });
});

describe('an invalid file', () => {
  it.each([
    ['protected', protectedPdf, 400, 'The PDF is protected'],
    ['truncated', async () => (await plainPdf()).subarray(0, 600), 400, 'damaged or incomplete'],
    ['an image', () => Promise.resolve(Buffer.from('\x89PNG')), 400, 'does not begin with %PDF-'],
    ['nothing', () => Promise.resolve(new Uint8Array()), 400, 'Choose a PDF to upload'],
    ['too large', () => Promise.resolve(Buffer.alloc(10_000_001, '%PDF-')), 413, 'larger than 10 MB'],
    ['much too large', () => Promise.resolve(Buffer.alloc(12_000_000, '%PDF-')), 413, 'larger than 10 MB'],
  ])('is refused with a sentence and leaves nothing behind: %s', async (_, make, status, words) => {
    const before = await filesKept();
    const reply = await upload(await make());
    expect(reply.status).toBe(status);
    expect(await reply.text()).toContain(words);
    expect(await filesKept()).toEqual(before);
  });

  it("is not accepted from another site's form", async () => {
    const before = await filesKept();
    expect((await upload(await plainPdf(), { form: 'guessed' })).status).toBe(403);
    const id = await uploaded();
    for (const path of [`/templates/${id}`, `/templates/${id}/copy`, `/templates/${id}/active`])
      expect((await post(path, { form: 'guessed' })).status).toBe(403);
    expect(await filesKept()).toHaveLength(before.length + 1);
  });

  it.each([
    '/templates/tmpl_none',
    '/templates/tmpl_none/document.pdf',
    '/templates/tmpl_nda',
    '/templates/..%2fapi-key/document.pdf',
  ])('is not found at %s', async (path) => {
    expect((await fetch(at(path))).status).toBe(404);
  });
});

describe('uploaded templates', () => {
  it('are visible only to their own organization', async () => {
    const id = await uploaded();
    await post(`/templates/${id}`, form([signature, color]));
    const { data } = await api('/__sandbox/keys', {
      name: 'other',
      scopes: ['esign:read', 'esign:write'],
      orgId: 'org_other',
    });
    const key = String(data.key);
    const { list } = await api('/api/v1/esign/templates?pageSize=100', undefined, key);
    expect(list.filter((one) => isRecord(one) && String(one.id).length > 20)).toEqual([]);
    expect((await api(`/api/v1/esign/templates/${id}`, undefined, key)).status).toBe(404);
    const signers = [{ email: 's@x.org', name: 'S' }];
    expect((await api('/api/v1/esign/envelopes', { templateId: id, signers }, key)).status).toBe(404);
  });

  it('are deleted by a reset; orphaned files are deleted at the next start', async () => {
    const id = await uploaded();
    await post(`/templates/${id}`, form([signature, color]));
    expect(await filesKept()).toContain(`${id}.pdf`);
    await api('/__sandbox/reset', {});
    expect(await filesKept()).toEqual([]);
    expect((await api(`/api/v1/esign/templates/${id}`)).status).toBe(404);
    const kept = await uploaded();
    await post(`/templates/${kept}`, form([signature, color]));
    for (const stray of ['tmpl_lost.pdf', `${kept}.pdf.abc.tmp`])
      await writeFile(join(folder, 'templates', stray), 'x');
    await sandbox.close();
    sandbox = await startSandbox({ dataDir: folder, host: '127.0.0.1', port: 0 });
    expect(await filesKept()).toEqual([`${kept}.pdf`]);
    const signers = [{ email: 's@x.org', name: 'S' }];
    expect((await api('/api/v1/esign/envelopes', { templateId: kept, signers })).status).toBe(201);
  });
});
