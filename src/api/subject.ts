import { isNotFound, ServiceError, type Subject } from '../kernel/errors.ts';

/** Returns existing IDs that are similar to a missing one. */
export type FindSimilarIds = (missing: Subject) => Promise<string[]>;

/** Throws the error of a request about an envelope or template. It names it and, if it doesn't exist, suggests similar IDs. */
export async function throwAbout(
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
