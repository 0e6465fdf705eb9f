import { codeOf, type ErrorDetails, messageOf, UsageError } from '../../../kernel/errors.ts';
import { diskReason } from '../../../kernel/files/disk-reason.ts';
import { readUserFile } from '../../../kernel/files/user-file.ts';
import type { SandboxSeed } from '../../embed-options.ts';
import { validate } from '../base/validation.ts';
import { type CheckedSeed, seedSchema } from './schema.ts';

/** A seed to load, and how to report its errors. */
export interface Seed {
  seed: CheckedSeed;
  /** Returns the error for problems by field, with the name of the file. */
  mistakes(details: ErrorDetails): UsageError;
}

/** The maximum number of errors to report. */
const MAX_PROBLEMS = 10;

/**
 * Reads a seed: a YAML or JSON file, or an object.
 * @throws UsageError with the field of each error.
 */
export async function readSeed(source: SandboxSeed | string): Promise<Seed> {
  return typeof source === 'string'
    ? readSeedText(source, await textOf(source))
    : parseSeed(source, 'The seed');
}

/** Reads the text of a seed. `path` is its file; `-` is stdin. @throws UsageError as `readSeed` does */
export async function readSeedText(path: string, text: string): Promise<Seed> {
  const name = path === '-' ? 'The seed on stdin' : path;
  const { parse } = await import('./yaml.ts');
  let value: unknown;
  try {
    value = parse(text, { prettyErrors: false, maxAliasCount: 100 });
  } catch (error) {
    throw new UsageError(`${name} is neither YAML nor JSON: ${messageOf(error)}.`, { cause: error });
  }
  return parseSeed(value ?? {}, name);
}

function parseSeed(value: unknown, name: string): Seed {
  const mistakes = (details: ErrorDetails) => seedError(name, details);
  const result = validate(seedSchema, value);
  if ('details' in result) throw mistakes(result.details);
  return { seed: result.data, mistakes };
}

async function textOf(path: string): Promise<string> {
  try {
    return (await readUserFile(path)).toString('utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    if (error instanceof UsageError || codeOf(error) === undefined) throw error;
    throw new UsageError(`Can't read the seed file ${path} (${diskReason(error)}).`, {
      cause: error,
      hint: 'Check the path and its permissions.',
    });
  }
}

function seedError(name: string, details: ErrorDetails): UsageError {
  const all = Object.entries(details).flatMap(([field, texts]) =>
    texts.map((text) => (field === 'body' ? text : `${field}: ${text}`)),
  );
  const more = all.length - MAX_PROBLEMS;
  const shown = all.slice(0, MAX_PROBLEMS).join('; ');
  return new UsageError(`${name} can't be used: ${shown}${more > 0 ? `; and ${more} more` : ''}.`, {
    hint: 'For the format, see `esign sandbox seed --help`. Nothing was loaded.',
  });
}
