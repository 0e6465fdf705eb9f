import { isNotFound, ServiceError, type Subject } from '../kernel/errors.ts';

/** Returns existing ids that are similar to a missing one. */
export type FindSimilarIds = (missing: Subject) => Promise<string[]>;

/** Calls the service for an envelope or template. Errors name it and, if it doesn't exist, suggest similar ids. */
export async function withSubject<T>(
  subject: Subject,
  findSimilarIds: FindSimilarIds | undefined,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const isMissing = isNotFound(error);
    error.subject =
      isMissing && findSimilarIds ? { ...subject, suggestions: await findSimilarIds(subject) } : subject;
    throw error;
  }
}
