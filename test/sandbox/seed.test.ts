import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { ENVELOPE_STATUSES } from '../../src/kernel/statuses.ts';
import type { SandboxSeed } from '../../src/sandbox/embed-options.ts';
import { readSeed, readSeedText } from '../../src/sandbox/service/seed/seed-file.ts';
import { newFolder } from '../support/folder.ts';
import { DAY, errorIn, listIn, literal, mailsOf, type Rig, startRig } from './rig.ts';

const resultShape = z.object({
  data: z.object({
    templates: z.number(),
    envelopes: z.number(),
    keys: z.array(z.object({ organisation: z.string(), key: z.string(), expiresAt: z.string().nullable() })),
  }),
});

const put = async (rig: Rig, seed: SandboxSeed) =>
  resultShape.parse((await rig.control('POST', '/seed', seed)).body).data;
const refused = async (rig: Rig, seed: unknown) => errorIn(await rig.control('POST', '/seed', seed)).details;
const statusesOf = async (rig: Rig, id: string) => {
  const { status, signers } = await rig.get(id);
  return [status, ...signers.map((one) => one.status)].join(' ');
};

test('A seed puts envelopes into any state, with only an ID', async () => {
  const rig = await startRig({ choices: literal });
  await put(rig, {
    envelopes: ENVELOPE_STATUSES.map((status) => ({ id: `env_${status}`, status, template: 'tmpl_lease' })),
  });
  const seen = await Promise.all(ENVELOPE_STATUSES.map((status) => statusesOf(rig, `env_${status}`)));
  expect(seen).toEqual([
    'DRAFT PENDING PENDING',
    'SENT SENT SENT',
    'IN_PROGRESS SIGNED SENT',
    'COMPLETED SIGNED SIGNED',
    'CANCELLED SENT SENT',
    'EXPIRED SENT SENT',
    'DECLINED DECLINED SENT',
  ]);
  expect(listIn(await rig.api('GET', '/esign/envelopes')).data).toHaveLength(7);
});

test.each<[string, NonNullable<SandboxSeed['envelopes']>[number]['signers'], string]>([
  ['nobody has viewed it', [{ name: 'A' }], 'DRAFT PENDING'],
  ['one has viewed it', [{ name: 'A', status: 'VIEWED' }, { name: 'B' }], 'SENT VIEWED SENT'],
  [
    'signers in sequence',
    [
      { name: 'A', status: 'SIGNED' },
      { name: 'B', status: 'SENT' },
      { name: 'C', status: 'PENDING' },
    ],
    'IN_PROGRESS SIGNED SENT PENDING',
  ],
  [
    'one has declined',
    [
      { name: 'A', status: 'SIGNED' },
      { name: 'B', status: 'DECLINED' },
    ],
    'DECLINED SIGNED DECLINED',
  ],
  ['all have signed', [{ name: 'A', status: 'SIGNED' }], 'COMPLETED SIGNED'],
])('The status follows from the signers: %s', async (_, signers, expected) => {
  const rig = await startRig({ choices: literal });
  await put(rig, { envelopes: [{ id: 'env_1', signers }] });
  expect(await statusesOf(rig, 'env_1')).toBe(expected);
});

test('A seeded envelope continues like any other', async () => {
  const rig = await startRig({ choices: literal });
  const signers = [
    { name: 'Łukasz Řehoř', status: 'SIGNED' as const },
    { name: 'Bob', email: 'bob@example.com' },
  ];
  const metadata = { deal: { id: 7 } };
  await put(rig, { envelopes: [{ id: 'env_1', subject: 'Lease', metadata, createdAt: '9d', signers }] });
  const before = await rig.get('env_1');
  expect(before).toMatchObject({
    subject: 'Lease',
    metadata,
    status: 'IN_PROGRESS',
    signers: [{ email: 'lukasz.rehor@example.com' }, {}],
  });
  expect(Date.now() - Date.parse(before.createdAt)).toBeCloseTo(9 * DAY, -5);
  expect((await mailsOf(rig, 'env_1')).map(({ kind, to }) => `${kind} ${to}`)).toEqual([
    'request lukasz.rehor@example.com',
    'request bob@example.com',
  ]);
  expect((await rig.act('env_1', 'sign')).status).toBe('COMPLETED');
});

test('An old active envelope does not expire immediately; one with a due expiry does', async () => {
  const rig = await startRig({ choices: literal });
  await put(rig, {
    envelopes: [
      { id: 'env_old', status: 'SENT', createdAt: '2020-01-01' },
      { id: 'env_late', status: 'EXPIRED' },
    ],
  });
  expect((await rig.get('env_old')).status).toBe('SENT');
  expect(Date.parse((await rig.get('env_late')).expiresAt)).toBeLessThan(Date.now());
  await rig.control('POST', '/clock/advance', { ms: 31 * DAY });
  expect((await rig.get('env_old')).status).toBe('EXPIRED');
});

test('Templates, organizations, and keys: each organization sees its own', async () => {
  const rig = await startRig({ choices: literal });
  const seed: SandboxSeed = {
    templates: [
      { id: 'tmpl_rent', name: 'Rent', roles: ['Owner', 'Guest'] },
      { id: 'tmpl_off', name: 'Off', active: false },
    ],
    keys: [{ organisation: 'acme', scopes: ['esign:read'], expiresAt: '2040-01-01' }, {}],
    envelopes: [{ id: 'env_acme', organisation: 'acme', status: 'SENT' }, { id: 'env_own' }],
  };
  const { keys, ...counts } = await put(rig, seed);
  expect(counts).toEqual({ templates: 2, envelopes: 2 });
  expect(keys).toMatchObject([
    { organisation: 'acme', expiresAt: '2040-01-01T00:00:00.000Z' },
    { organisation: rig.service.orgId, expiresAt: null },
  ]);
  const seenWith = async (key: string | undefined) =>
    listIn(await rig.api('GET', '/esign/envelopes', undefined, key)).data.map(({ id }) => id);
  expect(await seenWith(keys[0]?.key)).toEqual(['env_acme']);
  expect(await seenWith(keys[1]?.key)).toEqual(['env_own']);
  expect(errorIn(await rig.api('POST', '/esign/envelopes', {}, keys[0]?.key)).is).toBe('403 FORBIDDEN');
  const templates = listIn(await rig.api('GET', '/esign/templates')).data.map(({ id }) => id);
  expect(templates).toEqual(expect.arrayContaining(['tmpl_rent', 'tmpl_lease']));
  expect(templates).not.toContain('tmpl_off');
  expect((await put(rig, seed)).keys).toEqual(keys);
});

test('reset returns to the seed of the start, with the same keys and links', async () => {
  const { seed } = await readSeed({ keys: [{}], envelopes: [{ id: 'env_1', status: 'SENT' }] });
  const rig = await startRig({ seed, choices: literal });
  const { keys } = rig.service;
  const link = (await rig.service.control.mails({}))[0]?.link;
  await put(rig, { envelopes: [{ id: 'env_2' }] });
  await rig.act('env_1', 'decline');
  await rig.control('POST', '/reset');
  expect(await statusesOf(rig, 'env_1')).toMatch(/^SENT/);
  expect(listIn(await rig.api('GET', '/esign/envelopes', undefined, keys[0]?.key)).data).toHaveLength(1);
  expect((await rig.service.control.mails({}))[0]?.link).toBe(link);
});

test('Impossible values are refused by field, and nothing is stored', async () => {
  const rig = await startRig();
  const envelopes = (...some: object[]) => ({
    envelopes: some.map((one, at) => ({ id: `env_${at}`, ...one })),
  });
  const signed = [{ name: 'A', status: 'SIGNED' }];
  const table: [unknown, Record<string, string[]>][] = [
    [{ envelope: [] }, { envelope: ['Unknown field'] }],
    [{ envelopes: [{ status: 'SENT' }] }, { 'envelopes.0.id': ['id is required'] }],
    [{ templates: [{ id: 't' }] }, { 'templates.0.name': ['name is required'] }],
    [envelopes({ id: '../x' }), { 'envelopes.0.id': ['Must be at most 64 letters, digits, _, and -'] }],
    [envelopes({}, { template: 'nope' }), { 'envelopes.1.template': ['Template nope not found'] }],
    [envelopes({ id: 'a' }, { id: 'a' }), { 'envelopes.1.id': ['a is listed twice'] }],
    [
      envelopes({ createdAt: 'soon' }),
      { 'envelopes.0.createdAt': ['Must be a date, an ISO 8601 timestamp, or an age, such as 9d'] },
    ],
    [
      envelopes({ status: 'SENT', signers: signed }),
      { 'envelopes.0.status': ["Can't be SENT: with these signers it is COMPLETED"] },
    ],
    [
      envelopes({ status: 'DRAFT', signers: signed }),
      { 'envelopes.0.signers.0.status': ["Envelope is DRAFT; it can't be signed now"] },
    ],
    [
      envelopes({ template: 'tmpl_nda', signers: [{ name: 'A', role: 'King' }] }),
      { 'envelopes.0.signers.0.role': ["Must be one of the template's roles: Signer"] },
    ],
    [{ templates: [{ id: 't', name: 'T', pdf: 'x' }] }, { 'templates.0.pdf': ['Unknown field'] }],
  ];
  for (const [seed, details] of table) expect([seed, await refused(rig, seed)]).toEqual([seed, details]);
  expect(listIn(await rig.api('GET', '/esign/envelopes')).data).toEqual([]);
});

test.each(['2026-02-30', '2026-01-01 soon', '9999-12-31', '0001-01-01', '9000000d', '99999999999d'])(
  'A seed with the impossible time %s is refused',
  async (createdAt) => {
    const rig = await startRig();
    const details = await refused(rig, { envelopes: [{ id: 'env_1', createdAt }] });
    expect(Object.keys(details ?? {})).toEqual(['envelopes.0.createdAt']);
  },
);

test.each([
  ['seed.yaml', 'envelopes:\n  - id: env_1\n    status: SIGNED\n  - id: env_2\n    colour: red\n'],
  ['seed.json', '{"envelopes":[{"id":"env_1","status":"SIGNED"},{"id":"env_2","colour":"red"}]}'],
])('An error in a file names the file and the field: %s', async (name, text) => {
  const path = join(newFolder(), name);
  await writeFile(path, text);
  const failed: unknown = await readSeed(path).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: 'USAGE' });
  for (const fact of [path, 'envelopes.0.status: Must be one of DRAFT', 'envelopes.1.colour: Unknown field'])
    expect(String(failed)).toContain(fact);
});

test.each(['a: [', '{"a": 1, "a": 2}', '- a', 'templates: 3'])(
  'A file that is not a seed is refused: %j',
  async (text) => {
    await expect(readSeedText('seed.yaml', text)).rejects.toMatchObject({ code: 'USAGE' });
  },
);
