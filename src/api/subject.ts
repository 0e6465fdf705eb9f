import { isNotFound, ServiceError, type Subject } from '../kernel/errors.ts';

/** Finds the ids that may have been meant by one that does not exist. */
export type FindMeant = (missing: Subject) => Promise<string[]>;

/** Does what is asked of an envelope or template; an error tells which one, and, where there is none, which may be meant. */
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
