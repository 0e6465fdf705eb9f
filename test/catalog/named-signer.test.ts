import { describe, expect, it } from 'vitest';
import { findSigners } from '../../src/catalog/named-signer.ts';
import { whoseTurn } from '../../src/catalog/turns.ts';
import { statusText } from '../../src/envelopes/commands/envelope-text.ts';
import { foldText } from '../../src/kernel/text/search-words.ts';

const NOW = Date.UTC(2026, 10, 28);
const person = (name: string, order: number, signedAt: string | null = null) => ({
  id: `s_${name}`,
  name,
  email: `${name.toLowerCase()}@example.com`,
  order,
  status: signedAt === null ? 'PENDING' : 'SIGNED',
  signedAt,
});
const envelope = (signingOrder: string, ...signers: ReturnType<typeof person>[]) => ({
  id: 'env_1',
  status: signers.some(({ signedAt }) => signedAt) ? 'IN_PROGRESS' : 'SENT',
  signingOrder,
  signers,
});

describe('an address finds its signer in every form of it', () => {
  const forms = [
    'idn@müller.example',
    'IDN@xn--mller-kva.example',
    'idn@mu\u0308ller.example',
    'idn@MÜLLER.example',
  ];

  it.each(forms)('%s', (name) => {
    for (const email of forms)
      expect(findSigners({ id: 'env_1', signers: [{ id: 's_1', email }] }, name)).toHaveLength(1);
    expect(foldText(name)).toBe('idn@muller.example');
  });

  it('but not another address', () => {
    const signers = [
      { id: 's_1', email: 'idn+a@müller.example' },
      { id: 's_2', email: null },
    ];
    expect(findSigners({ id: 'env_1', signers }, 'idn@müller.example')).toEqual([]);
  });
});

describe('who an envelope waits for', () => {
  const signed = '2026-11-27T10:00:00Z';

  it.each([
    ['the first of two in order', envelope('SEQUENTIAL', person('Ann', 1), person('Bob', 2)), 'Ann'],
    [
      'the second after the first signature',
      envelope('SEQUENTIAL', person('Ann', 1, signed), person('Bob', 2), person('Cy', 3)),
      'Bob',
    ],
    ['the first, also if listed last', envelope('SEQUENTIAL', person('Bob', 2), person('Ann', 1)), 'Ann'],
    [
      'all with the same order',
      envelope('SEQUENTIAL', person('Ann', 1), person('Bob', 1), person('Cy', 2)),
      'Ann and Bob',
    ],
    [
      'one of twenty in order',
      envelope('SEQUENTIAL', ...Array.from({ length: 20 }, (_, at) => person(`P${at}`, at))),
      'P0',
    ],
    ['everybody in parallel', envelope('PARALLEL', person('Ann', 1), person('Bob', 2)), 'Ann and Bob'],
  ])('is %s', (_, one, names) => {
    expect(statusText(one, NOW)).toContain(`Waiting for ${names} (`);
    expect(
      whoseTurn(one)
        .map(({ name }) => name)
        .join(' and '),
    ).toBe(names);
  });
});
