import { expect, it } from 'vitest';
import { ReplaceProgress } from '../../../src/envelopes/commands/replace/replace-progress.ts';
import { EarlierUnknownError } from '../../../src/kernel/errors.ts';

const progressOf = (status: string, steps: readonly ('make' | 'cancel' | 'send')[]) =>
  new ReplaceProgress(
    {
      old: { id: 'env_1', status },
      wanted: { templateId: 'tmpl_1', signers: [] },
      signers: [],
      made: undefined,
      steps,
    },
    ['envelopes', 'replace', 'env_1'],
  );

it.each([
  ['SENT', ['make', 'cancel', 'send'], '`esign envelopes create`, and cancel env_1.'],
  ['EXPIRED', ['make', 'send'], '`esign envelopes create`.'],
] as const)(
  'shows another way to replace a %s envelope if the same command can never continue',
  (status, steps, last) => {
    const error = progressOf(status, steps).errorOf(
      new EarlierUnknownError('The service shows no request IDs.', { hint: 'Use a different request ID.' }),
      new AbortController().signal,
    );
    // The hint of another kind of error would be replaced by the command itself.
    expect(error).toBeInstanceOf(EarlierUnknownError);
    expect(error).toMatchObject({
      message: `The service shows no request IDs. A draft that replaces env_1 may exist. env_1 is unchanged (${status}).`,
      hint: `Look for the draft with \`esign envelopes list --status draft\`. If it doesn't exist, create the new envelope with ${last}`,
    });
  },
);
