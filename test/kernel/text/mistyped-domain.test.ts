import { expect, it } from 'vitest';
import { suggestDomain } from '../../../src/kernel/text/mistyped-domain.ts';

it('suggests the well-known provider for a domain that is one typo away', () => {
  expect([suggestDomain('ada@gmial.com'), suggestDomain('ada@gmail.com')]).toEqual(['gmail.com', undefined]);
});
