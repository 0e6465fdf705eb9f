import { isNotFound, ServiceError, type Subject } from '../kernel/errors.ts';

/** Returns existing ids that are similar to a missing one. */
export type FindMeant = (missing: Subject) => Promise<string[]>;

/** Calls the service for an envelope or template. Errors name it and, if it doesn't exist, suggest similar ids. */
export async function about<T>(
  subject: Subject,
  findMeant: FindMeant | undefined,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const isMissing = isNotFound(error);
    error.subject = isMissing && findMeant ? { ...subject, meant: await findMeant(subject) } : subject;
    throw error;
  }
}
