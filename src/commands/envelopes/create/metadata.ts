import { readPairs } from '../../../cli/input/pairs.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { REQUEST_ID_KEY } from '../../../kernel/vocabulary.ts';

/** Returns the metadata of a file, overridden by `k=v` pairs. */
export function readMetadata(
  pairs: readonly string[] | undefined,
  fromFile: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const given = readPairs(pairs, 'metadata');
  // A request ID in a file may be copied from another envelope, so it is ignored.
  if (Object.hasOwn(given, REQUEST_ID_KEY))
    throw new UsageError(`The metadata key ${REQUEST_ID_KEY} is reserved for esign.`, {
      hint: `Use a different key, or pass --request-id ${given[REQUEST_ID_KEY] || 'KEY'}.`,
    });
  return { ...fromFile, ...given };
}
