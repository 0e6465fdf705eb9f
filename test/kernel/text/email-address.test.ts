import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressProblem, isEmailAddress } from '../../../src/kernel/text/email-address.ts';
import { emailSchema as serviceEmail } from '../../../src/sandbox/service/base/validation.ts';

describe('an email address', () => {
  it.each([
    'ada@example.com',
    'a.b+c@x.example',
    "o'neil@example.co.uk",
    'žofie@příklad.cz',
    'a@b_1.xn--p1ai',
    'a@10.example',
    `a@${'b'.repeat(63)}.example`,
  ])('can be %s', (text) => {
    expect([isEmailAddress(text), addressProblem(text)]).toEqual([true, undefined]);
  });

  it.each([
    ['maria@example', 'no dot'],
    ['k@example.com\u200b', 'U+200B'],
    ['k\u00ad@example.com', 'U+00AD'],
    ['a@b@example.com', 'not an email address'],
    ['a..b@example.com', 'not an email address'],
    ['a@-example.com', 'not an email address'],
    ['a b@example.com', 'not an email address'],
    ['a@example.com#.example.org', 'not an email address'],
    ['a@example.com/x.example.org', 'not an email address'],
    ['a@example.com?.example.org', 'not an email address'],
    ['a@ex%61mple.com', 'not an email address'],
    [`${'a'.repeat(65)}@example.com`, 'not an email address'],
    [`a@${'b'.repeat(250)}.com`, 'not an email address'],
    ['a@10.0.0.1', 'not an email address'],
    ['a@1.2.3', 'not an email address'],
    ['a@example.123', 'not an email address'],
    ['a@example.com_', 'not an email address'],
    [`a@${'b'.repeat(64)}.example`, 'not an email address'],
    [`a@${'é'.repeat(63)}.example`, 'not an email address'],
    [`${'é'.repeat(33)}@example.com`, 'not an email address'],
    [`a@${'é'.repeat(50)}.${'é'.repeat(50)}.${'é'.repeat(50)}.example`, 'not an email address'],
    ['', 'not an email address'],
  ])("can't be %j", (text, problem) => {
    expect([isEmailAddress(text), addressProblem(text)]).toEqual([false, expect.stringContaining(problem)]);
  });

  it('that is accepted is never refused by the service', () => {
    const part = fc.string({ unit: fc.constantFrom(...'ab.-+@ <>\u200b\u00a0é"\\'), maxLength: 70 });
    fc.assert(
      fc.property(part, part, (local, domain) => {
        const text = `${local}@${domain}`;
        if (isEmailAddress(text)) expect(serviceEmail.safeParse(text).success).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
