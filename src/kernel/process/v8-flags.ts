import { setFlagsFromString } from 'node:v8';

/**
 * For long work with little data at a time: makes V8 collect garbage before the heap has grown to several times the memory in
 * use. V8 reads this flag at each collection.
 */
export function preferLowMemory(): void {
  setFlagsFromString('--optimize-for-size');
}
