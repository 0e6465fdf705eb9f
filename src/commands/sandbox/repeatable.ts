import * as Flags from '@oclif/core/flags';
import type { InferredFlags } from '@oclif/core/interfaces';

/** The flags that make runs of a sandbox repeatable. */
export const repeatableFlags = {
  ids: Flags.string({
    helpGroup: 'SERVICE',
    description: 'random IDs, or IDs that count up per kind, such as env_1',
    options: ['random', 'counted'],
    default: 'random',
    helpValue: 'random|counted',
  }),
  freeze: Flags.boolean({
    helpGroup: 'SERVICE',
    description: 'stop the clock; only `sandbox advance` moves it',
  }),
  clock: Flags.string({
    helpGroup: 'SERVICE',
    description: 'time at which the clock starts, such as 2026-03-01T09:00:00Z',
    helpValue: 'AT',
  }),
};

export type RepeatableFlags = Partial<InferredFlags<typeof repeatableFlags>>;

/** Returns the flags as options of the sandbox. @throws UsageError for a clock that is not a time. */
export async function repeatableOptions({ ids, freeze, clock }: RepeatableFlags) {
  const { readTime } = await import('../../sandbox/index.ts');
  return {
    hasCountedIds: ids === 'counted',
    isFrozen: freeze === true,
    startsAt: clock === undefined ? undefined : readTime(clock),
  };
}
