import * as Flags from '@oclif/core/flags';
import type { InferredFlags } from '@oclif/core/interfaces';
import { booleanFlag, inGroup, textFlag } from '../../cli/flags.ts';

/** The flags that make runs of a sandbox repeatable. */
export const repeatableFlags = inGroup('SERVICE', {
  ids: Flags.string({
    description: 'random IDs, or numbered IDs such as env_1',
    options: ['random', 'counted'],
    default: 'random',
    helpValue: 'random|counted',
  }),
  freeze: booleanFlag('stop the clock; only `sandbox advance` moves it'),
  clock: textFlag('AT', 'start time for the clock, such as 2026-03-01T09:00:00Z'),
});

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
