import { afterAll } from 'vitest';

interface Closable {
  close(): unknown;
}

/**
 * Returns a function that registers what a file or a `describe` opens. It is closed at the end, last first, even if a later
 * part of a `beforeAll` failed.
 */
export function closing(): <T extends Closable>(opened: T) => T {
  const all: Closable[] = [];
  afterAll(async () => {
    const problems: unknown[] = [];
    for (const one of all.reverse()) {
      try {
        await one.close();
      } catch (error) {
        problems.push(error);
      }
    }
    if (problems.length > 0) throw new AggregateError(problems, 'not everything could be closed');
  });
  return (opened) => {
    all.push(opened);
    return opened;
  };
}
