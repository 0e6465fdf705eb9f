import { readPairs } from '../../../cli/input/pairs.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { REQUEST_ID_KEY } from '../../../kernel/vocabulary.ts';

/** Returns the metadata of `k=v` pairs. */
export function readMetadata(pairs: readonly string[] | undefined): Record<string, string> {
  const given = readPairs(pairs, 'metadata');
  if (Object.hasOwn(given, REQUEST_ID_KEY))
    throw new UsageError(`The metadata key ${REQUEST_ID_KEY} is reserved for esign.`, {
      hint: `Use a different key, or pass --request-id ${given[REQUEST_ID_KEY] || 'KEY'}.`,
    });
  return given;
}
