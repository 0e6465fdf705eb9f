import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/api/resource-types.ts';
import {
  buildReplacement,
  isChanged,
  type ReplacementChanges,
} from '../../src/envelopes/replace/replacement.ts';
import { UsageError } from '../../src/kernel/errors.ts';
import { isSameEnvelope } from '../../src/once/wording.ts';

const old: Envelope = {
  id: 'env_1',
  templateId: 'tmpl_1',
  subject: 'Lease',
  message: '',
  signingOrder: 'SEQUENTIAL',
  signers: [
    { id: 'signer_1', email: 'ada@example.com', name: 'Ada', role: 'Tenant', order: 1 },
    { id: 'signer_2', email: 'bo=x@example.com', name: 'bo=x@example.com', role: 'Landlord', order: 2 },
    { id: 'signer_3', email: 'cy@example.com', name: 'Cy' },
    { id: 'signer_4', email: 'cy@example.com', name: 'Cy', order: 4 },
  ],
  metadata: { deal: 1, replaces: 'env_0', esignRequestId: 'r', esignRun: 'run-1', esignRow: 3 },
  webhookUrl: null,
  createdAt: '2026-01-01T00:00:00Z',
  sentAt: '2026-01-03T12:00:00Z',
  expiresAt: '2026-01-15T00:00:00Z',
};
const wanted = (changes: ReplacementChanges, of: Envelope = old) => buildReplacement(of, changes).envelope;

describe('the replacement of an envelope', () => {
  it('equals the original except for the metadata added by esign', () => {
    expect(wanted({})).toEqual({
      templateId: 'tmpl_1',
      subject: 'Lease',
      message: undefined,
      signingOrder: 'SEQUENTIAL',
      metadata: { deal: 1, replaces: 'env_1' },
      webhookUrl: undefined,
      webhookSecret: undefined,
      expiresInDays: 14,
      signers: [
        { email: 'ada@example.com', name: 'Ada', role: 'Tenant', order: 1 },
        { email: 'bo=x@example.com', name: 'bo=x@example.com', role: 'Landlord', order: 2 },
        { email: 'cy@example.com', name: 'Cy' },
        { email: 'cy@example.com', name: 'Cy', order: 4 },
      ],
    });
  });

  it.each([
    ['from its creation', { expiresAt: '2026-01-31T00:00:00Z' }, 30],
    ['from its sending', { expiresAt: '2026-01-10T12:00:00.400Z' }, 7],
    ['if it is one day', { expiresAt: '2026-01-02T00:00:00Z' }, 1],
    ['like the service if it is shorter than a day', { expiresAt: '2026-01-01T00:01:00Z' }, undefined],
    ['like the service if its dates are missing', { expiresAt: null }, undefined],
    ['like the service if its dates are inconsistent', { expiresAt: '2026-01-10T05:00:00Z' }, undefined],
  ])('has the same number of days, counted %s', (_, dates, days) => {
    expect(wanted({}, { ...old, ...dates }).expiresInDays).toBe(days);
    expect(wanted({ expiresInDays: 3 }, { ...old, ...dates }).expiresInDays).toBe(3);
  });

  it.each([
    [
      'by address in any case',
      'ADA@example.com=Eve <eve@example.com>',
      0,
      { email: 'eve@example.com', name: 'Eve', role: 'Tenant', order: 1 },
    ],
    [
      'by address alone, which keeps the name',
      'ada@example.com=eve@example.com',
      0,
      { email: 'eve@example.com', name: 'Ada', role: 'Tenant', order: 1 },
    ],
    [
      'whose name is the address',
      'bo=x@example.com=eve@example.com',
      1,
      { email: 'eve@example.com', name: 'eve@example.com', role: 'Landlord', order: 2 },
    ],
    [
      'by address, with spaces',
      ' ada@example.com = Eve <eve@example.com> ',
      0,
      { email: 'eve@example.com', name: 'Eve', role: 'Tenant', order: 1 },
    ],
    [
      'by id, with a role and an order',
      'signer_4=Eve <eve@example.com>;role=Guest;order=9',
      3,
      { email: 'eve@example.com', name: 'Eve', role: 'Guest', order: 9 },
    ],
  ])('has another signer instead of one named %s', (_, pair, at, signer) => {
    expect(wanted({ signers: [pair] }).signers[at]).toEqual(signer);
  });

  it('has another signer instead of the one with the longest matching name', () => {
    const signers = [{ id: 'bo', email: 'first@example.com' }, { id: null, email: 'bo=x@example.com' }, {}];
    const mailbox = 'Eve <eve@example.com>';
    const changed = wanted({ signers: [`bo=x@example.com=${mailbox}`] }, { ...old, signers });
    expect(changed.signers.map(({ email }) => email)).toEqual(['first@example.com', 'eve@example.com', '']);
  });

  it('lists each signer with the change', () => {
    const { signers } = buildReplacement(old, {
      signers: [
        'ada@example.com=eve@example.com',
        'signer_2=flo@example.com',
        'signer_4=Gil <gil@example.com>',
      ],
      removed: ['signer_3'],
      added: ['hal@example.com'],
    });
    const [ada, bo, cy, other] = old.signers ?? [];
    expect(signers).toMatchObject([
      { before: ada, after: { name: 'Ada' }, keepsName: true, nameIsAddress: false },
      { before: bo, after: { name: 'flo@example.com' }, keepsName: false, nameIsAddress: true },
      { before: cy },
      { before: other, after: { name: 'Gil' }, keepsName: false, nameIsAddress: false },
      { after: { name: 'hal@example.com' }, nameIsAddress: true },
    ]);
    expect(Object.keys(signers[2] ?? {})).toEqual(['before']);
  });

  it('has up to 20 signers, even if the original has none', () => {
    const added = Array.from({ length: 20 }, (_, i) => `s${i}@example.com`);
    const none: Envelope = { ...old, signers: undefined };
    expect(wanted({ added }, none).signers.map(({ order }) => order)).toEqual(added.map((_, i) => i + 1));
    expect(isChanged(none, wanted({ added }, none), { added })).toBe(true);
  });

  it('uses a given template if the service returns none', () => {
    const changes = { templateId: 'tmpl_2' };
    expect(wanted(changes, { ...old, templateId: undefined }).templateId).toBe('tmpl_2');
    expect(() => wanted({}, { ...old, templateId: undefined })).toThrow(UsageError);
  });

  it('contains added signers at the end, and no removed ones', () => {
    const { signers } = wanted({
      added: ['Eve <eve@example.com>;role=Guest'],
      removed: ['signer_3', 'ada@example.com'],
    });
    expect(signers.map(({ email }) => email)).toEqual([
      'bo=x@example.com',
      'cy@example.com',
      'eve@example.com',
    ]);
    expect(signers.at(-1)).toEqual({ email: 'eve@example.com', name: 'Eve', role: 'Guest', order: 5 });
  });

  it('orders added signers in sequence if the others sign in order', () => {
    const added = ['Eve <eve@example.com>', 'Flo <flo@example.com>'];
    const ordersOf = (of: Envelope) =>
      wanted({ added }, of)
        .signers.slice(-2)
        .map(({ order }) => order);
    expect(ordersOf(old)).toEqual([5, 6]);
    expect(ordersOf({ ...old, signingOrder: 'PARALLEL' })).toEqual([undefined, undefined]);
  });

  it('has a webhook secret only with a webhook', () => {
    const webhookSecret = 'canarysecret-0123456789';
    expect(wanted({ webhookSecret }).webhookSecret).toBeUndefined();
    const webhookUrl = 'https://hook.example.com/';
    const hooked = { ...old, webhookUrl };
    expect(wanted({ webhookSecret }, hooked)).toMatchObject({ webhookUrl, webhookSecret });
    expect(isChanged(hooked, wanted({ webhookSecret }, hooked), { webhookSecret })).toBe(true);
    expect(isChanged(hooked, wanted({}, hooked), {})).toBe(false);
  });

  it.each<[string, ReplacementChanges, boolean]>([
    ['no change', {}, false],
    [
      'the same signer, subject, and message',
      { signers: ['ada@example.com=Ada <ada@example.com>'], subject: 'Lease', message: '' },
      false,
    ],
    ['another name', { signers: ['ada@example.com=Ada L <ada@example.com>'] }, true],
    ['another role', { signers: ['ada@example.com=Ada <ada@example.com>;role=Guest'] }, true],
    ['a removed signer', { removed: ['signer_3'] }, true],
    ['an added signer', { added: ['eve@example.com'] }, true],
    ['a subject', { subject: 'New' }, true],
    ['a message', { message: 'New' }, true],
    ['the same template, named', { templateId: 'tmpl_1' }, true],
    ['an expiration', { expiresInDays: 14 }, true],
    ['a secret without a webhook', { webhookSecret: 'whsec_0123456789abcdef' }, false],
  ])('is recognized as changed or unchanged: %s', (_, changes, is) => {
    expect(isChanged(old, wanted(changes), changes)).toBe(is);
  });

  it.each<[string, ReplacementChanges]>([
    ['2 signers with the', { removed: ['cy@example.com'] }],
    ['used twice for ada', { signers: ['ada@example.com=a@b.c', 'ada@example.com=d@e.f'] }],
    ["ada@example.com can't be both", { signers: ['ada@example.com=a@b.c'], removed: ['signer_1'] }],
    ['have no signers', { removed: ['signer_1', 'signer_2', 'signer_3', 'signer_4'] }],
    ['must be OLD=SIGNER', { signers: [' =a@b.c'] }],
    ['must be OLD=SIGNER', { signers: ['=a@b.c'] }],
    ['must be OLD=SIGNER', { signers: ['ada@example.com='] }],
    ['have 21 signers', { added: Array.from({ length: 17 }, (_, i) => `s${i}@example.com`) }],
  ])('is refused: %s', (text, changes) => {
    expect(() => wanted(changes)).toThrow(text);
  });

  it('is refused with the IDs of the signers that have the same address', () => {
    const hint = expect.stringContaining('signer_3, signer_4') as unknown;
    expect(() => wanted({ removed: ['CY@example.com'] })).toThrow(expect.objectContaining({ hint }));
  });
});

describe('an existing envelope', () => {
  const wish = wanted({ signers: ['signer_3=Eve <eve@example.com>'] });
  const made: Envelope = {
    ...old,
    id: 'env_2',
    signers: wish.signers.map((one) => ({ ...one, role: one.role ?? 'Guest' })),
  };

  it('matches even if the service adds fields to it', () => {
    expect(isSameEnvelope(made, wish)).toBe(true);
    expect(isSameEnvelope({ id: 'env_2', templateId: 'tmpl_1' }, wish)).toBe(true);
    expect(isSameEnvelope({ ...made, subject: ' Lease ' }, wish)).toBe(true);
  });

  it.each<[string, Partial<Envelope>]>([
    ['another template', { templateId: 'tmpl_2' }],
    ['another subject', { subject: 'Other' }],
    ['one signer fewer', { signers: made.signers?.slice(1) }],
    ['one signer more', { signers: [...(made.signers ?? []), { email: 'x@example.com' }] }],
    ['another name', { signers: made.signers?.map((one) => ({ ...one, name: 'X' })) }],
    ['another role', { signers: made.signers?.map((one) => ({ ...one, role: 'X' })) }],
  ])("doesn't match: %s", (_, change) => {
    expect(isSameEnvelope({ ...made, ...change }, wish)).toBe(false);
  });
});
