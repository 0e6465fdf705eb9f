import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSigner, parseSigners, signerText } from '../../src/envelopes/signer-mailbox.ts';
import { UsageError } from '../../src/kernel/errors.ts';

describe('a signer on the command line', () => {
  it.each([
    ['a@b.c', { email: 'a@b.c', name: 'a@b.c' }, true],
    ['Ada Lovelace <a@b.c>', { email: 'a@b.c', name: 'Ada Lovelace' }, false],
    ['"Lovelace; Ada" <a@b.c>', { email: 'a@b.c', name: 'Lovelace; Ada' }, false],
    ['Ada <a@b.c>;role=Tenant;order=1', { email: 'a@b.c', name: 'Ada', role: 'Tenant', order: 1 }, false],
    ['a@b.c;role="Head; of legal"', { email: 'a@b.c', name: 'a@b.c', role: 'Head; of legal' }, true],
    ['  <a@b.c> ; ORDER = 0 ', { email: 'a@b.c', name: 'a@b.c', order: 0 }, true],
    ['Łukasz Řehoř <l@příklad.cz>', { email: 'l@příklad.cz', name: 'Łukasz Řehoř' }, false],
    ['李小龍 <li@example.com>', { email: 'li@example.com', name: '李小龍' }, false],
    ['Lee, Ann <a@b.c>', { email: 'a@b.c', name: 'Lee, Ann' }, false],
    ['a@b.c <A@b.c>', { email: 'A@b.c', name: 'a@b.c' }, false],
    ['"Doe, Jane" <a@b.c>', { email: 'a@b.c', name: 'Doe, Jane' }, false],
    ["'Doe, Jane' <a@b.c>", { email: 'a@b.c', name: 'Doe, Jane' }, false],
    ['“Doe, Jane” <a@b.c>', { email: 'a@b.c', name: 'Doe, Jane' }, false],
    ['„Doe, Jane“ <a@b.c>', { email: 'a@b.c', name: 'Doe, Jane' }, false],
    ["'t Hooft <a@b.c>", { email: 'a@b.c', name: "'t Hooft" }, false],
    ["Jane 'JD' Doe <a@b.c>", { email: 'a@b.c', name: "Jane 'JD' Doe" }, false],
    ['Ann @ Acme <a@b.c>', { email: 'a@b.c', name: 'Ann @ Acme' }, false],
    ['Ann <a@b.c>;role=x@y.z', { email: 'a@b.c', name: 'Ann', role: 'x@y.z' }, false],
    ['"Ann <a@b.d>, Bob" <a@b.c>', { email: 'a@b.c', name: 'Ann <a@b.d>, Bob' }, false],
    ['"say \\"hi\\"" <a@b.c>', { email: 'a@b.c', name: 'say "hi"' }, false],
  ])('is parsed from %s', (text, signer, nameIsAddress) => {
    expect(parseSigner(text)).toEqual({ signer, nameIsAddress });
  });

  it.each([
    ['', 'has no email address'],
    ['Ada Lovelace', '"Ada Lovelace" has no email address'],
    ['Ada <a@b@c>', 'is not an email address'],
    ['a b@c.d', 'is not an email address'],
    ['a@b.c;role', 'has no value'],
    ['a@b.c;role=', 'is empty'],
    ['a@b.c;order=first', 'is not a whole number'],
    ['a@b.c;colour=red', 'is unknown'],
    ['"Ada <a@b.c>', 'quote is not closed'],
    ['Ada <>', 'has no email address'],
    ['Ann <a@b.c>, Bob <b@b.c>', 'has several addresses'],
    ['"Lee, Ann" <a@b.c>, "Ray, Bob" <b@b.c>', 'has several addresses'],
    ['a@b.c, b@b.c', 'has several addresses'],
    ['a@b.c; b@b.c', 'has several addresses'],
    ['a@b.c, Bob <b@b.c>', 'has several addresses'],
    ['Ann <a@b.c>\nBob <b@b.c>', 'has several addresses'],
    ['Ann <ann at b.c>, Bob <b@b.c>', 'contains < or >'],
    ['=?UTF-8?Q?J=C3=BCrgen?= <a@b.c>', 'the name is encoded as in an email header'],
    ['"=?iso-8859-1?b?SvxyZ2Vu?=" <a@b.c>', 'the name is encoded as in an email header'],
    ['Ann\nBcc: eve <a@b.c>', 'the name contains a line break'],
    ['Ann <a@b.c>;role="Ten\tant"', 'the role contains a tab'],
  ])('refuses %j with a reason', (text, why) => {
    expect(() => parseSigner(text)).toThrow(UsageError);
    expect(() => parseSigner(text)).toThrow(why);
  });

  it('restores any name, role, and order that is quoted', () => {
    const word = fc
      .string({ minLength: 1, maxLength: 30 })
      .map((text) => text.trim())
      .filter((text) => text !== '' && !/[\r\n]/.test(text));
    const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;
    fc.assert(
      fc.property(word, word, fc.nat(9_999), (name, role, order) => {
        const text = `${quote(name)} <ada@example.com>;role=${quote(role)};order=${order}`;
        expect(parseSigner(text).signer).toEqual({ email: 'ada@example.com', name, role, order });
      }),
    );
  });

  it('throws only usage errors', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        try {
          expect(parseSigner(text).signer.email).toContain('@');
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
        }
      }),
    );
  });

  it('accepts 1 to 20 signers', () => {
    const many = Array.from({ length: 20 }, (_, i) => `s${i}@example.com`);
    expect(parseSigners(many)).toHaveLength(20);
    expect(() => parseSigners([])).toThrow('at least one signer');
    expect(() => parseSigners([...many, 'x@example.com'])).toThrow('up to 20');
  });
});

describe('a signer as text', () => {
  it('parses to the same signer', () => {
    const word = fc
      .string({ unit: fc.constantFrom(...`Ada ;"<>\\'=,é漢`), minLength: 1 })
      .map((text) => text.trim());
    const signers = fc.record(
      {
        email: fc.constantFrom('a@b.c', 'ada@example.com'),
        name: word.filter((text) => text !== ''),
        role: word.filter((text) => text !== ''),
        order: fc.integer({ min: 0, max: 9_999 }),
      },
      { requiredKeys: ['email', 'name'] },
    );
    fc.assert(
      fc.property(signers, (signer) => {
        expect(parseSigner(signerText(signer)).signer).toEqual(signer);
      }),
    );
  });

  it.each(["'A'", '“Ada”', '‘Ada’', 'bob@example.com'])('keeps the name %s as it is', (name) => {
    const signer = { email: 'a@b.c', name, role: name };
    expect(parseSigner(signerText(signer)).signer).toEqual(signer);
  });

  it('is only the address if it equals the name', () => {
    expect(signerText({ email: 'a@b.c', name: 'a@b.c' })).toBe('a@b.c');
  });
});
