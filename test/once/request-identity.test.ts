import { describe, expect, it } from 'vitest';
import {
  contentOf,
  hasSameSigners,
  requestIdByContent,
  requestIdProblem,
} from '../../src/once/request-identity.ts';

const lease = { templateId: 'tmpl_1', subject: 'Lease für {name}', metadata: { deal: 4711 } };

describe('the content ID of a request', () => {
  it('differs with another template, subject, or metadata', () => {
    const others = [
      { ...lease, templateId: 'tmpl_2' },
      { ...lease, subject: 'Lease' },
      { ...lease, subject: undefined },
      { ...lease, metadata: { deal: '4711' } },
      { ...lease, metadata: { deal: 4711, part: 2 } },
      { ...lease, metadata: undefined },
    ];
    expect(new Set([lease, ...others].map(contentOf)).size).toBe(7);
  });

  it.each<[string, Parameters<typeof contentOf>[0]]>([
    ['the Unicode form of the subject', { ...lease, subject: lease.subject.normalize('NFD') }],
    ['blanks in the subject', { ...lease, subject: ' Lease  für {name} ' }],
    ['blanks around the template', { ...lease, templateId: ' tmpl_1 ' }],
    [
      'the keys of esign',
      {
        ...lease,
        metadata: {
          esignRequestId: 'r',
          esignRun: 'run-1',
          esignRow: 3,
          replaces: 'env_0',
          ...lease.metadata,
        },
      },
    ],
  ])('is the same if only this differs: %s', (_, same) => {
    expect(contentOf(same)).toBe(contentOf(lease));
  });

  it('is the same in any order of the metadata', () => {
    const of = (metadata: Record<string, unknown>) => contentOf({ ...lease, metadata });
    expect(of({ a: 1, b: { c: 2, d: 3 } })).toBe(of({ b: { d: 3, c: 2 }, a: 1 }));
  });
});

describe('the request ID derived from the content of a request', () => {
  const ada = { email: 'ada@example.com', role: 'Tenant', order: 1 };
  const bo = { email: 'bo@example.com', role: 'Landlord', order: 2 };
  const of = (...signers: Parameters<typeof requestIdByContent>[1]) => requestIdByContent('content', signers);

  it.each<[string, (typeof ada)[], string?]>([
    ['the sequence of the signers', [bo, ada]],
    ['the case of an address', [{ ...ada, email: 'Ada@Example.COM' }, bo]],
    ['the form of a domain', [{ ...ada, email: 'ada@EXAMPLE.com' }, bo]],
    [
      'the ASCII form of a domain',
      [bo, { ...ada, email: 'ada@xn--mller-kva.example' }],
      'ada@müller.example',
    ],
    [
      'the Unicode form of a domain',
      [bo, { ...ada, email: 'ada@mu\u0308ller.example' }],
      'ada@müller.example',
    ],
    [
      'the Unicode form of a name',
      [bo, { ...ada, email: 'jose\u0301@example.com' }],
      'jos\u00e9@example.com',
    ],
    ['blanks in a role', [{ ...ada, role: ' Tenant ' }, bo]],
  ])('is the same if only this differs: %s', (_, signers, email = ada.email) => {
    expect(of(...signers)).toBe(of({ ...ada, email }, bo));
  });

  it.each([
    ['another address', [{ ...ada, email: 'ada@example.org' }, bo]],
    ['another role', [{ ...ada, role: 'Guest' }, bo]],
    [
      'exchanged roles',
      [
        { ...ada, role: 'Landlord' },
        { ...bo, role: 'Tenant' },
      ],
    ],
    [
      'exchanged orders',
      [
        { ...ada, order: 2 },
        { ...bo, order: 1 },
      ],
    ],
    ['one signer fewer', [ada]],
    ['one signer twice', [ada, ada, bo]],
  ])('differs with %s', (_, signers) => {
    expect(of(...signers)).not.toBe(of(ada, bo));
  });

  it('can also be passed as a request ID', () => {
    expect(requestIdProblem(of(ada, bo))).toBeUndefined();
  });
});

describe('signers as the service shows them', () => {
  const wanted = [
    { email: 'ada@example.com', role: 'Tenant', order: 1 },
    { email: 'bo@example.com', order: 2 },
  ];
  const shown = [
    { email: 'bo@example.com', role: 'Landlord', order: 7 },
    { email: 'ADA@example.com', role: 'Tenant', order: 3 },
  ];

  it.each<[string, Parameters<typeof hasSameSigners>[0]]>([
    ['in another sequence, with a role that was filled in and other orders', shown],
    ['without roles and orders', shown.map(({ email }) => ({ email }))],
    ['not at all', undefined],
    ['as an empty list', []],
  ])('are the same %s', (_, signers) => {
    expect(hasSameSigners(signers, wanted)).toBe(true);
  });

  it.each<[string, Parameters<typeof hasSameSigners>[0]]>([
    ['in another order of signing', shown.map((one) => ({ ...one, order: -one.order }))],
    ['with another role', shown.map((one) => ({ ...one, role: 'Guest' }))],
    ['with one more', [...shown, { email: 'cy@example.com' }]],
    ['with one fewer', shown.slice(1)],
  ])('are others %s', (_, signers) => {
    expect(hasSameSigners(signers, wanted)).toBe(false);
  });

  it('are matched one to one if an address occurs twice', () => {
    const twice = [{ email: 'ada@example.com' }, { email: 'ada@example.com' }];
    expect(hasSameSigners(twice, twice)).toBe(true);
    expect(
      hasSameSigners([...twice, { email: 'bo@example.com' }], [...twice, { email: 'cy@example.com' }]),
    ).toBe(false);
  });
});
