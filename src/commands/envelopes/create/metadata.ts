import { readJsonObject } from '../../../cli/input/files.ts';
import { readPairs } from '../../../cli/input/pairs.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { REQUEST_ID_KEY } from '../../../kernel/vocabulary.ts';

/** Returns the JSON object of a file, overridden by `k=v` pairs. */
export async function readMetadata(
  pairs: readonly string[] | undefined,
  file: string | undefined,
): Promise<Record<string, unknown>> {
  const given = readPairs(pairs, 'metadata');
  // A request ID in a file may be copied from another envelope, so it is ignored.
  if (Object.hasOwn(given, REQUEST_ID_KEY))
    throw new UsageError(`The metadata key ${REQUEST_ID_KEY} is reserved for esign.`, {
      hint: `Use a different key, or pass --request-id ${given[REQUEST_ID_KEY] || 'KEY'}.`,
    });
  const fromFile = file === undefined ? {} : await readJsonObject(file, 'metadata file');
  return { ...fromFile, ...given };
}
