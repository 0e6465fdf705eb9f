import { expect, it } from 'vitest';
import { streamObject } from '../../../src/documents/download/fetch.ts';
import { fakeClock } from '../../support/clock.ts';
import { bucketWith, factsFor, type Response, sha256 } from './memory-bucket.ts';

const drop = new Error('socket hang up');
const [OLD, NEW] = ['the old text', 'a new text'];

async function stream(...answers: Response[]) {
  const clock = fakeClock();
  let written = '';
  const write = (chunk: Uint8Array) => {
    written += Buffer.from(chunk).toString();
    return Promise.resolve();
  };
  const { bucket } = bucketWith(...answers);
  const outcome = await streamObject(bucket, 'a.txt', write, { clock }).catch((error: unknown) => error);
  return { outcome, written, slept: clock.slept };
}

it('streams an object that changed before its first byte arrived', async () => {
  const { outcome, written, slept } = await stream(
    { text: '', facts: factsFor(OLD), breaks: drop },
    { text: NEW },
    { text: NEW },
  );
  expect(outcome).toEqual({ bytes: NEW.length, sha256: sha256(NEW) });
  expect([written, slept.length]).toEqual([NEW, 1]);
});

it('writes no bytes of an object that changed after the first', async () => {
  const { outcome, written } = await stream(
    { text: OLD.slice(0, 4), facts: factsFor(OLD), breaks: drop },
    { text: NEW },
    { text: NEW },
  );
  expect(outcome).toMatchObject({ code: 'STORAGE_CORRUPT' });
  expect(written).toBe(OLD.slice(0, 4));
});
