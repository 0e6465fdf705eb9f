import type { InferredFlags } from '@oclif/core/interfaces';
import type { Selection } from '../catalog/selection.ts';
import {
  booleanFlag,
  durationFlag,
  inGroup,
  optionalArg,
  repeatedTextFlag,
  sinceFlag,
  statusesFlag,
  textFlag,
} from '../cli/flags.ts';
import { readPairList } from '../cli/input/pairs.ts';
import type { Context } from '../cli/session/context.ts';
import { UsageError } from '../kernel/errors.ts';
import { foldText, wordsOf } from '../kernel/text/search-words.ts';
import { runForFilter } from './selected-run.ts';

/** The argument of commands that act on envelopes, given by ID or by run. */
export const idsOrRun = {
  id: optionalArg('envelope IDs, or `-` to read them from stdin'),
};

/** The flag that names the envelopes of a run, for commands that act on envelopes. */
export const runFlag = {
  run: textFlag(
    'RUN|last',
    'the envelopes of this bulk run, instead of IDs; "last" is the latest run of the account on this machine',
  ),
};

/** Creates the flag for all envelopes to which a command usually applies, instead of IDs. */
export function allFlag(description: string) {
  return booleanFlag(description, { exclusive: ['run'] });
}

/** The flags that select envelopes, for lists and reports. */
export const selectionFlags = inGroup('FILTER', {
  status: statusesFlag({
    description: 'only envelopes with one of these statuses, such as DRAFT or open',
    helpValue: 'A,B',
  }),
  template: textFlag('ID|NAME', 'only envelopes from this template'),
  signer: textFlag('TEXT', 'only envelopes with a signer whose address or name contains this text'),
  since: sinceFlag({ description: 'only envelopes created since this time', helpValue: '7d|DATE' }),
  'older-than': sinceFlag({ description: 'only envelopes created before this time', helpValue: '14d|DATE' }),
  'expiring-in': durationFlag('3d', 'only SENT or IN_PROGRESS envelopes that expire within this time'),
  metadata: repeatedTextFlag('KEY=VALUE', 'only envelopes with this metadata value; can be repeated'),
  run: textFlag(
    'RUN|last',
    'only envelopes from this bulk run; "last" is the latest run of the account on this machine',
  ),
});

export type SelectionFlagValues = Partial<InferredFlags<typeof selectionFlags>>;

/**
 * Returns the selection described by the flags. Call it before the client is created, because a run determines the profile. An
 * unknown run selects no envelopes.
 */
export async function selectionFromFlags(flags: SelectionFlagValues, context: Context): Promise<Selection> {
  const filters = filtersFromFlags(flags);
  return { ...filters, run: flags.run === undefined ? undefined : await runForFilter(flags.run, context) };
}

/** Returns the selection described by flags other than `--run`, and by the words of a search. */
export function filtersFromFlags(
  flags: Omit<SelectionFlagValues, 'run'> & { search?: string | undefined },
): Selection {
  const { template, signer, search, 'expiring-in': expiringIn, metadata } = flags;
  return {
    statuses: flags.status,
    template: template === undefined ? undefined : { id: template, name: foldText(template) },
    signer: signer === undefined ? undefined : foldText(signer),
    words: search === undefined ? undefined : wordsOf(search),
    createdAfter: flags.since,
    createdBefore: flags['older-than'],
    expiresBefore: expiringIn === undefined ? undefined : (now) => now + expiringIn,
    metadata: metadata === undefined ? undefined : readPairList(metadata, '--metadata value'),
  };
}

/** Returns a search text. @throws UsageError if it has no words. */
export function requireSearchText(text: string): string {
  if (wordsOf(text).length > 0) return text;
  throw new UsageError('The search is empty.', {
    hint: 'Enter a name, an address, a subject, or a number, such as `esign find lukasz`.',
  });
}
