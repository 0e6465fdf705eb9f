import type { ObjectWriter } from './model.ts';

/** Stores nothing, where nobody will look at the documents: each would be six writes to the disk. */
export const NO_OBJECTS: ObjectWriter = {
  put: () => Promise.resolve(),
  get: () => Promise.resolve(null),
  clear: () => Promise.resolve(),
  save: () => Promise.resolve(),
  restore: () => Promise.resolve(),
  onMiss: () => undefined,
};
