import * as Flags from '@oclif/core/flags';
import type { InferredFlags } from '@oclif/core/interfaces';
import {
  booleanFlag,
  inGroup,
  numberFlag,
  rateLimitFlag,
  repeatedTextFlag,
  textFlag,
} from '../../cli/flags.ts';
import { readPairs } from '../../cli/input/pairs.ts';
import type { Context } from '../../cli/session/context.ts';
import { durationText } from '../../kernel/duration.ts';
import { LIMITS } from '../../kernel/vocabulary.ts';
import { readFaultFlags } from './fault-flags.ts';
import { readSeedFile } from './seed-file.ts';
import { fetchStandIns } from './stand-ins.ts';

/** The flags that determine how a sandbox behaves, for `start` and `exec`. */
export const serviceFlags = inGroup('SERVICE', {
  seed: textFlag('FILE', 'YAML or JSON file with the initial data; see `sandbox seed`'),
  like: textFlag(
    'PROFILE',
    "start with stand-ins for the active templates of this profile's account (read-only)",
    { exclusive: ['seed'] },
  ),
  'rate-limit': rateLimitFlag({
    description: `requests per key and time window (default ${LIMITS.rate.requests}/${durationText(LIMITS.rate.seconds * 1_000)})`,
    helpValue: '40/3s',
  }),
  quota: numberFlag('envelopes per month (default: no limit)', { min: 0 }),
  fault: repeatedTextFlag(
    'NAME[=MATCH|JSON]',
    'fault to inject, such as lostReply, for all or some requests; can be repeated; an unknown one lists all',
  ),
  choice: repeatedTextFlag(
    'NAME=VALUE',
    'behavior where the API document is ambiguous; can be repeated; an unknown one lists all',
  ),
  clock: textFlag('AT', 'start time for the clock, such as 2026-03-01T09:00:00Z'),
  freeze: booleanFlag('stop the clock; only `sandbox advance` moves it'),
  ids: Flags.string({
    description: 'random IDs, or numbered IDs such as env_1',
    options: ['random', 'counted'],
    default: 'random',
    helpValue: 'random|counted',
  }),
});

type ServiceFlags = Partial<InferredFlags<typeof serviceFlags>>;

/** Returns the flags as options of the sandbox. @throws UsageError for an invalid value. */
export async function serviceOptions(flags: ServiceFlags, context: Context) {
  const { readSeed, readTime } = await import('../index.ts');
  const { like, seed, clock } = flags;
  const standIns = like === undefined ? undefined : await fetchStandIns(like, context);
  const read = seed === undefined ? undefined : await readSeedFile(seed, context.terminal);
  return {
    seed: standIns === undefined ? read : await readSeed({ templates: standIns }),
    hasBuiltInTemplates: like === undefined,
    rateLimit: flags['rate-limit'],
    quota: flags.quota,
    faults: readFaultFlags(flags.fault ?? []),
    choices: readPairs(flags.choice, 'choice'),
    startsAt: clock === undefined ? undefined : readTime(clock),
    isFrozen: flags.freeze === true,
    hasCountedIds: flags.ids === 'counted',
  };
}
