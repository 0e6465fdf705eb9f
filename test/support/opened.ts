/** Something that has to be closed, such as a server. Closing it twice is fine. */
export interface Closable {
  close(): unknown;
}

const opened: Closable[] = [];

/**
 * Closes this at the end of the test file (tidy.ts), the last one first. A test closes only what has to end earlier. The nightly
 * tests, which run without tidy.ts, close everything themselves.
 */
export function closeAtEnd<T extends Closable>(one: T): T {
  opened.push(one);
  return one;
}

/** Closes everything that the test file has opened. */
export async function closeOpened(): Promise<void> {
  await closeAll(opened.splice(0));
}

/** Closes all of them, the last one first, also if one can't be closed. */
export async function closeAll(all: readonly Closable[]): Promise<void> {
  const problems: unknown[] = [];
  for (const one of all.toReversed()) {
    try {
      await one.close();
    } catch (error) {
      problems.push(error);
    }
  }
  if (problems.length > 0) throw new AggregateError(problems, 'not everything could be closed');
}
