import { beforeAll, expect, it } from 'vitest';
import { judgeSeal } from '../../../src/documents/seal/judge.ts';
import type { Issued, Wanted } from '../../support/authorities.ts';
import { makeSealer, sealed } from '../../support/sealing.ts';
import { checkedSealOf } from './seal-of.ts';

/** The time in the seals. */
const AT = Date.parse('2026-03-01T10:20:30.000Z');
const DAY_MS = 86_400_000;
let root: Issued;
let between: Issued;

beforeAll(async () => {
  ({ issued: root } = await makeSealer({ name: 'Root', authority: true }));
  const valid = { from: AT - 9 * DAY_MS, to: AT + 900 * DAY_MS };
  ({ issued: between } = await makeSealer({ name: 'Between', authority: true, issuer: root, ...valid }));
});

async function messageFor(wanted: Omit<Wanted, 'name'>): Promise<string | undefined> {
  const valid = { from: AT - DAY_MS, to: AT + 900 * DAY_MS };
  const sealer = await makeSealer({ name: 'Signer', issuer: root, ...valid, ...wanted });
  const checked = await checkedSealOf(sealed(sealer));
  return judgeSeal(checked, { authorities: [root.x509] }).problem?.message;
}

it.each<[string, () => Omit<Wanted, 'name'>]>([
  [
    'expired on 2026-02-27, before the file was sealed',
    () => ({ to: AT - 2 * DAY_MS, from: AT - 3 * DAY_MS }),
  ],
  ['is valid only from 2026-03-02, after the file was sealed', () => ({ from: AT + DAY_MS })],
  ['is not for signing', () => ({ keyUsage: 0x20 })],
  ['is not for documents', () => ({ purposes: ['1.3.6.1.5.5.7.3.1'] })],
  ['the certificate of its issuer, Between, is neither in the file', () => ({ issuer: between })],
])('names the reason: %s', async (reason, wanted) => {
  expect(await messageFor(wanted())).toContain(`CN=Signer, whose certificate`);
  expect(await messageFor(wanted())).toContain(reason);
});

it('names none for a trusted signer', async () => {
  expect(await messageFor({})).toBeUndefined();
});
