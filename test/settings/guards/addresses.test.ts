import { expect, it } from 'vitest';
import { comparableAddress } from '../../../src/kernel/text/email-address.ts';
import { comparablePattern, matchesPattern } from '../../../src/settings/guards/addresses.ts';

const isAllowed = (pattern: string, address: string) =>
  matchesPattern(comparablePattern(pattern) ?? '', comparableAddress(address) ?? 'none');

it.each([
  ['kate@x.org', 'KATE@X.ORG', true],
  ['*@x.org', 'anyone@X.org', true],
  ['*@bücher.example', 'a@xn--bcher-kva.example', true],
  ['Éva@x.org', 'Éva@x.org', true],
  // The Kelvin sign and a dotted capital I, which have lower-case forms in ASCII.
  ['kate@x.org', '\u212aate@x.org', false],
  ['ian@x.org', '\u0130an@x.org', false],
  ['s@x.org', '\u017f@x.org', false],
  ['ann@x.org', 'аnn@x.org', false],
  ['éva@x.org', 'Éva@x.org', false],
])('the pattern %s covers %s: %s', (pattern, address, expected) => {
  expect(isAllowed(pattern, address)).toBe(expected);
});
