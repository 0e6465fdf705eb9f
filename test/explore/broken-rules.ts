import { vi } from 'vitest';
import type { Settled } from '../../src/once/settle.ts';

/*
 * The product's own code with one rule of the protocol broken, to see that each rule is needed, and that the explorer finds what happens
 * without it. Import this file before anything of `src/once`.
 */

/** The rules by what a process does that breaks them. */
export type BrokenRule =
  | 'sends its own draft'
  | 'sends the youngest draft'
  | 'prefers an older draft to what was sent'
  | 'decides without waiting'
  | 'decides without reading the list'
  | 'ignores what an earlier process may have left'
  | 'cancels nothing';

const state = vi.hoisted(() => ({ broken: undefined as string | undefined }));

/** Breaks a rule until the next call, or none. */
export function breakRule(rule: BrokenRule | undefined): void {
  state.broken = rule;
}

vi.mock('../../src/once/precedence.ts', async (original) => {
  const real = await original<typeof import('../../src/once/precedence.ts')>();
  const byPrecedence: typeof real.byPrecedence = (a, b) => {
    if (state.broken === 'sends the youngest draft' && a.status === 'DRAFT' && b.status === 'DRAFT')
      return real.byPrecedence(b, a);
    if (state.broken !== 'prefers an older draft to what was sent') return real.byPrecedence(a, b);
    const asDraft = (one: typeof a) => (one.status === 'CANCELLED' ? one : { ...one, status: 'DRAFT' });
    return real.byPrecedence(asDraft(a), asDraft(b));
  };
  return { ...real, byPrecedence };
});

vi.mock('../../src/once/carry-out.ts', async (original) => {
  const real = await original<typeof import('../../src/once/carry-out.ts')>();
  const chooseEnvelope: typeof real.chooseEnvelope = (host, draft, others) =>
    real.chooseEnvelope(host, draft, state.broken === 'sends its own draft' ? [] : others);
  const tidy: typeof real.tidy = (...all) =>
    state.broken === 'cancels nothing' ? Promise.resolve() : real.tidy(...all);
  return { ...real, chooseEnvelope, tidy };
});

vi.mock('../../src/once/settle.ts', async (original) => {
  const real = await original<typeof import('../../src/once/settle.ts')>();
  const settle: typeof real.settle = async (host, start, notBefore) => {
    if (state.broken === 'decides without reading the list')
      return { others: new Map(), isProof: true } satisfies Settled;
    const isForgetful = state.broken === 'ignores what an earlier process may have left';
    if (state.broken !== 'decides without waiting')
      return real.settle(host, start, isForgetful ? 0 : notBefore);
    const { clock } = host.client;
    const { sleep } = clock;
    clock.sleep = () => Promise.resolve();
    return real.settle(host, start, notBefore).finally(() => {
      clock.sleep = sleep;
    });
  };
  return { ...real, settle };
});
