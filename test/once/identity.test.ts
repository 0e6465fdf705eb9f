import { expect, it } from 'vitest';
import { contentHashOf } from '../../src/log/keys.ts';

const ada = { email: 'ada@example.com', name: 'Ada' };
const of = (signers: Parameters<typeof contentHashOf>[0]['signers'], templateId = 'tmpl_1') =>
  contentHashOf({ templateId, signers });

it('treats a create with another template, address, name, role, or order as different', () => {
  const base = of([{ ...ada, role: 'Tenant', order: 1 }]);
  const others = [
    of([{ ...ada, role: 'Tenant', order: 1 }], 'tmpl_2'),
    of([{ ...ada, email: 'bo@example.com', role: 'Tenant', order: 1 }]),
    of([{ ...ada, name: 'Bo', role: 'Tenant', order: 1 }]),
    of([{ ...ada, role: 'Landlord', order: 1 }]),
    of([{ ...ada, role: 'Tenant', order: 2 }]),
    of([{ ...ada, role: 'Tenant', order: 1 }, ada]),
  ];
  expect(new Set([base, ...others]).size).toBe(7);
});

it('treats a create as the same if only the case of an address or the sequence of the signers differs', () => {
  const bo = { email: 'bo@example.com', name: 'Bo' };
  expect(of([ada, bo])).toBe(of([bo, { ...ada, email: 'ADA@example.com' }]));
});
