import { afterAll } from 'vitest';
import { type Closable, closeAll } from './opened.ts';

/**
 * Returns a function that registers what a nightly file or a `describe` opens. It is closed at the end, last first, even if a later
 * part of a `beforeAll` failed.
 */
export function closing(): <T extends Closable>(opened: T) => T {
  const all: Closable[] = [];
  afterAll(() => closeAll(all));
  return (opened) => {
    all.push(opened);
    return opened;
  };
}
