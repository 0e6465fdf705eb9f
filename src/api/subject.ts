import { isNotFound, ServiceError, type Subject, UsageError } from '../kernel/errors.ts';
import { kindOf } from '../kernel/options.ts';

/** Returns existing IDs that are similar to a missing one. */
export type FindSimilarIds = (missing: Subject) => Promise<string[]>;

/**
 * Returns the ID for use in a path.
 * @throws UsageError if it is not a string or is empty, or if it is `.` or `..`, which would request another path.
 */
export function idInPath({ kind, id }: { kind: Subject['kind']; id: unknown }): string {
  if (typeof id === 'string' && !/^(?:\s*|\.{1,2})$|\p{Cs}/u.test(id)) return encodeURIComponent(id);
  throw new UsageError(`Invalid ${kind} ID: ${typeof id === 'string' ? JSON.stringify(id) : kindOf(id)}.`, {
    hint: 'If it comes from a variable, check that the variable is set.',
  });
}

/** Throws the error of a request about an envelope or template. It names it and, if it doesn't exist, suggests similar IDs. */
export async function throwWithSubject(
  subject: Subject,
  error: unknown,
  findSimilarIds: FindSimilarIds | undefined,
): Promise<never> {
  if (!(error instanceof ServiceError)) throw error;
  const isMissing = isNotFound(error);
  error.subject =
    isMissing && findSimilarIds ? { ...subject, suggestions: await findSimilarIds(subject) } : subject;
  throw error;
}
