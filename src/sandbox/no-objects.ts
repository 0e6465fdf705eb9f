import type { ObjectWriter } from './model.ts';

/** Stores nothing. Used if the documents aren't needed, because each one takes six writes to the disk. */
export const NO_OBJECTS: ObjectWriter = {
  put: () => Promise.resolve(),
  get: () => Promise.resolve(null),
  clear: () => Promise.resolve(),
  save: () => Promise.resolve(),
  restore: () => Promise.resolve(),
  onMiss: () => undefined,
};
