import { describe, expect, it } from 'vitest';
import { findProblems, type SignerWithRole } from '../../src/envelopes/envelope-problems.ts';

const LEASE = { names: ['Landlord', 'Tenant'], inferred: false };
const GUESSED = { ...LEASE, inferred: true };
const NONE = { names: [], inferred: false };
const who = (email: string, role?: string): SignerWithRole =>
  role === undefined ? { email } : { email, role };
const ada = who('ada@example.com', 'Tenant');
const bo = who('bo@example.com', 'Landlord');

/** The addresses, roles, and counts in a message. */
const factsOf = (text: string) => text.match(/[\w.]+@[\w.]*\w|Ten+ant|Landlord|twice|\d+/g)?.join(' ');

describe("the check of a new envelope's signers", () => {
  it.each<[string, SignerWithRole[], typeof LEASE, string[]]>([
    ['nothing if each role has a signer', [ada, bo], LEASE, []],
    ['nothing about roles if none are known', [ada], NONE, []],
    ['a role without a signer', [ada], LEASE, ['incomplete: Landlord']],
    ['nothing if a signer without a role takes the free one', [ada, who('c@example.com')], LEASE, []],
    [
      'the later role if a signer without a role takes the first',
      [who('c@example.com')],
      LEASE,
      ['incomplete: Tenant'],
    ],
    ['a role of earlier envelopes', [ada], GUESSED, ['warning: Landlord']],
    [
      'a role twice',
      [ada, who('c@example.com', 'Tenant'), bo],
      LEASE,
      ['warning: ada@example.com c@example.com Tenant'],
    ],
    [
      'a role three times',
      [ada, who('c@d.e', 'Tenant'), who('f@g.h', 'Tenant')],
      NONE,
      ['warning: ada@example.com c@d.e f@g.h Tenant'],
    ],
    [
      'an address twice, in any case',
      [ada, who('ADA@example.com', 'Landlord')],
      LEASE,
      ['warning: ada@example.com twice'],
    ],
    ['an address three times', [who('a@b.c'), who('A@b.c'), who('a@B.c')], NONE, ['warning: a@b.c 3']],
    [
      'a misspelled role',
      [bo, who('ada@example.com', 'Tennant')],
      LEASE,
      ['wrong: Tennant ada@example.com Tenant', 'incomplete: Tenant'],
    ],
    ['an unknown role', [ada, bo, who('c@d.e', 'Nobody')], LEASE, ['wrong: c@d.e Landlord Tenant']],
    [
      'nothing about a role that only other envelopes lacked',
      [ada, bo, who('c@d.e', 'Witness')],
      GUESSED,
      [],
    ],
  ])('reports %s', (_, parties, roles, expected) => {
    expect(findProblems(parties, roles).map(({ weight, text }) => `${weight}: ${factsOf(text)}`)).toEqual(
      expected,
    );
  });
});
