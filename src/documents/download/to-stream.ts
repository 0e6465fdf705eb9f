import { type Clock, systemClock } from '../../kernel/clock.ts';
import type { Bucket } from '../bucket/bucket.ts';
import type { ObjectFacts } from '../bucket/object-facts.ts';
import { type Counted, corrupt, Digest } from './digest.ts';
import type { WantedFile } from './papers.ts';
import { transfer } from './transfer.ts';

/**
 * Streams an object to a writable such as stdout; what was wrong with it is known only at its end.
 * @throws StorageError STORAGE_CORRUPT after the bytes, when they are not the object.
 */
export async function streamObject(
  bucket: Bucket,
  wanted: WantedFile,
  write: (chunk: Uint8Array) => Promise<void>,
  options: { signal?: AbortSignal | undefined; clock?: Clock | undefined } = {},
): Promise<Counted> {
  const { key } = wanted;
  let digest: Digest | undefined;
  let length = 0;
  const sink = {
    get length() {
      return length;
    },
    begin: (facts: ObjectFacts) => {
      digest = new Digest(key, facts);
    },
    write: async (chunk: Uint8Array) => {
      digest?.update(chunk);
      length += chunk.byteLength;
      await write(chunk);
    },
    restart: () =>
      length === 0
        ? Promise.resolve()
        : Promise.reject(corrupt(key, 'it changed on the way, and its first bytes are out already')),
  };
  await transfer(bucket, key, sink, { clock: options.clock ?? systemClock, signal: options.signal });
  if (digest === undefined) throw corrupt(key, 'nothing came');
  return digest.result();
}
