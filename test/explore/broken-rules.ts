import { vi } from 'vitest';
import type * as Drafts from '../../src/once/drafts.ts';
import type * as Precedence from '../../src/once/precedence.ts';
import type * as Settling from '../../src/once/settle.ts';
import type * as Actors from './actors.ts';
import type * as Explorer from './explore.ts';

/*
 * The product's own code with one rule of the protocol broken, to see that each rule is needed, and that the explorer finds what happens
 * without it.
 */

/** The rules by what a process does that breaks them. */
export type BrokenRule =
  | 'sends its own draft'
  | 'sends the draft of another'
  | 'prefers an older draft to what was sent'
  | 'decides without waiting'
  | 'decides without reading the list'
  | 'ignores what an earlier process may have left'
  | 'cancels nothing';

let broken: BrokenRule | undefined;

/** Explores with a copy of the product's code in which a rule is broken. */
export async function withBrokenRule<T>(
  rule: BrokenRule,
  work: (code: typeof Explorer & typeof Actors) => Promise<T>,
): Promise<T> {
  vi.resetModules();
  vi.doMock('../../src/once/precedence.ts', async (original) => breakablePrecedence(await original()));
  vi.doMock('../../src/once/drafts.ts', async (original) => breakableChoice(await original()));
  vi.doMock('../../src/once/settle.ts', async (original) => breakableSettling(await original()));
  broken = rule;
  try {
    return await work({ ...(await import('./explore.ts')), ...(await import('./actors.ts')) });
  } finally {
    broken = undefined;
    for (const name of ['precedence', 'drafts', 'settle']) vi.doUnmock(`../../src/once/${name}.ts`);
    vi.resetModules();
  }
}

function breakablePrecedence(real: typeof Precedence): typeof Precedence {
  const byPrecedence: typeof real.byPrecedence = (a, b) => {
    if (broken !== 'prefers an older draft to what was sent') return real.byPrecedence(a, b);
    const asDraft = (one: typeof a) => (one.status === 'CANCELLED' ? one : { ...one, status: 'DRAFT' });
    return real.byPrecedence(asDraft(a), asDraft(b));
  };
  return { ...real, byPrecedence };
}

function breakableChoice(real: typeof Drafts): typeof Drafts {
  const chooseEnvelope: typeof real.chooseEnvelope = (host, draft, others) => {
    if (broken === 'sends its own draft') return real.chooseEnvelope(host, draft, []);
    const [other, ...rest] = others;
    if (broken !== 'sends the draft of another' || !other) return real.chooseEnvelope(host, draft, others);
    return real.chooseEnvelope(host, other.id, rest);
  };
  const tidy: typeof real.tidy = (...all) =>
    broken === 'cancels nothing' ? Promise.resolve() : real.tidy(...all);
  return { ...real, chooseEnvelope, tidy };
}

function breakableSettling(real: typeof Settling): typeof Settling {
  const settle: typeof real.settle = async (host, start, notBefore) => {
    if (broken === 'decides without reading the list') return { others: new Map(), isProof: true };
    const isForgetful = broken === 'ignores what an earlier process may have left';
    if (broken !== 'decides without waiting') return real.settle(host, start, isForgetful ? 0 : notBefore);
    const { clock } = host.client;
    const { sleep } = clock;
    clock.sleep = () => Promise.resolve();
    return real.settle(host, start, notBefore).finally(() => {
      clock.sleep = sleep;
    });
  };
  return { ...real, settle };
}
