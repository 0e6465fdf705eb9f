import { afterAll } from 'vitest';

interface Closable {
  close(): unknown;
}

/**
 * What a file or a `describe` opens goes through the function this returns, and is closed at its end, last first: also
 * what was open already when a later part of a `beforeAll` failed.
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
