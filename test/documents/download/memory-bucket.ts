import { createHash } from 'node:crypto';
import type { Bucket, OpenOptions } from '../../../src/documents/bucket/bucket.ts';
import type { ObjectFacts, Opened, OpenedObject } from '../../../src/documents/bucket/object.ts';

const md5 = (bytes: Uint8Array | string) => createHash('md5').update(bytes).digest('hex');
export const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

/** The metadata that a bucket returns for these bytes. */
export function factsFor(body: Uint8Array | string, more: Partial<ObjectFacts> = {}): ObjectFacts {
  return {
    size: Buffer.byteLength(body),
    etag: `"${md5(body)}"`,
    md5: md5(body),
    checksum: undefined,
    modified: undefined,
    contentType: undefined,
    encryption: undefined,
    storageClass: undefined,
    ...more,
  };
}

/** A response with an object. `breaks`: the error that ends the body after `text`. */
export interface Response {
  text: string | Uint8Array;
  facts?: ObjectFacts;
  from?: number;
  breaks?: Error;
}

/** A bucket whose responses a function creates. It records the requests, and the responses that were canceled. */
export function memoryBucket(
  answer: (key: string, request: OpenOptions) => Response | Opened | Promise<Response | Opened>,
) {
  const requests: OpenOptions[] = [];
  const keys: string[] = [];
  const cancelled: number[] = [];
  const bucket: Bucket = {
    name: 'b',
    async open(key, request = {}) {
      const number = requests.push(request);
      keys.push(key);
      const given = await answer(key, request);
      return 'kind' in given ? given : openedOf(given, () => void cancelled.push(number));
    },
    head: () => Promise.reject(new Error('not used')),
    link: () => Promise.reject(new Error('not used')),
    close: () => undefined,
  };
  return { bucket, requests, keys, cancelled };
}

function openedOf(
  { text, facts = factsFor(text), from = 0, breaks }: Response,
  cancel: () => void,
): OpenedObject {
  async function* body() {
    await Promise.resolve();
    if (text.length > 0) yield Buffer.from(text);
    if (breaks) throw breaks;
  }
  return { kind: 'object', facts, from, body: body(), cancel };
}

/** A bucket that returns these responses one after another. */
export function bucketWith(...answers: (Response | Opened | Error)[]) {
  const left = [...answers];
  return memoryBucket(() => {
    const next = left.shift();
    if (next === undefined) throw new Error('no more responses');
    if (next instanceof Error) throw next;
    return next;
  });
}
