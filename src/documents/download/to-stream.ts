import { type Clock, systemClock } from '../../kernel/clock.ts';
import type { Bucket } from '../bucket/bucket.ts';
import { isProvenBySize, type ObjectFacts } from '../bucket/object.ts';
import { corrupt, Digest, type FileHash } from './digest.ts';
import { transfer } from './transfer.ts';

/**
 * Streams an object to a writable such as stdout. The bytes can only be verified at the end.
 * @throws StorageError STORAGE_CORRUPT after the last byte, if the bytes aren't the object.
 */
export async function streamObject(
  bucket: Bucket,
  key: string,
  write: (chunk: Uint8Array) => Promise<void>,
  options: { signal?: AbortSignal | undefined; clock?: Clock | undefined } = {},
): Promise<FileHash & { isProvenBySize: boolean }> {
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
        : Promise.reject(corrupt(key, 'it changed during the download, after its first bytes were written')),
  };
  const { facts } = await transfer(bucket, key, sink, {
    clock: options.clock ?? systemClock,
    signal: options.signal,
  });
  if (digest === undefined) throw corrupt(key, 'no bytes arrived');
  return { ...digest.result(), isProvenBySize: isProvenBySize(facts) };
}
