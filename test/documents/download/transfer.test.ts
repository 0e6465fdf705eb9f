import { describe, expect, it } from 'vitest';
import type { ObjectFacts, Opened } from '../../../src/documents/bucket/object.ts';
import { type TransferOptions, transfer } from '../../../src/documents/download/transfer.ts';
import { StorageError } from '../../../src/kernel/errors.ts';
import { fakeClock } from '../../support/clock.ts';
import { bucketWith, factsFor, type Response } from './memory-bucket.ts';

const WHOLE = 'abcdefghij';
const facts = factsFor(WHOLE);
const dropped = new Error('socket hang up');
const lost = new StorageError('STORAGE_UNREACHABLE', 'The bucket did not respond.');
const missing = new StorageError('STORAGE_NOT_FOUND', 'There is no such object.');
/** A part of the object from this byte, after which the connection breaks. */
const part = (from: number, to: number, more: Partial<Response> = {}): Response => ({
  text: WHOLE.slice(from, to),
  facts,
  from,
  breaks: dropped,
  ...more,
});
const rest = (from: number): Response => ({ text: WHOLE.slice(from), facts, from });

/** The outcome of a transfer of this text. */
const whole = (text = WHOLE, of = facts) => ({
  facts: of,
  hash: { bytes: text.length, sha256: text },
});

/** Transfers from a bucket with these responses, into a text. */
async function receive(
  answers: (Response | Opened | Error)[],
  options: Partial<TransferOptions> = {},
  { start = '', known }: { start?: string; known?: ObjectFacts } = {},
) {
  const { bucket, requests, cancelled } = bucketWith(...answers);
  const clock = fakeClock();
  const begun: (ObjectFacts | string)[] = [];
  const sink = {
    text: start,
    known,
    get length() {
      return sink.text.length;
    },
    begin: (of: ObjectFacts) => void begun.push(of.etag ?? ''),
    write: (chunk: Uint8Array) => {
      sink.text += Buffer.from(chunk).toString();
    },
    verify: () => ({ bytes: sink.text.length, sha256: sink.text }),
    restart: () => {
      sink.text = '';
    },
  };
  const progress = { begun: 0, expected: 0, bytes: 0 };
  const outcome = await transfer(bucket, 'k', sink, { clock, progress, ...options }).catch(
    (error: unknown) => error,
  );
  const ranges = requests.map(({ from, ifMatch }) => [from, ifMatch]);
  return { outcome, sink, ranges, cancelled, begun, progress, slept: clock.slept };
}

const { etag } = facts;

describe('a transfer', () => {
  it('takes one request if the connection holds', async () => {
    const { outcome, sink, ranges, begun, progress, slept } = await receive([rest(0)]);
    expect(outcome).toEqual(whole());
    expect([sink.text, begun, ranges, slept]).toEqual([WHOLE, [etag], [[undefined, undefined]], []]);
    expect(progress).toEqual({ begun: 1, expected: 10, bytes: 10 });
  });

  it('requests only the missing bytes of the same object after each drop', async () => {
    const { outcome, sink, ranges, begun, progress } = await receive([part(0, 4), part(4, 7), rest(7)]);
    expect(outcome).toEqual(whole());
    expect([sink.text, begun]).toEqual([WHOLE, [etag]]);
    expect(ranges.slice(1)).toEqual([
      [4, etag],
      [7, etag],
    ]);
    expect(progress).toEqual({ begun: 1, expected: 10, bytes: 10 });
  });

  it('continues if the connection closes early without an error', async () => {
    const { outcome, sink } = await receive([{ text: 'abcd', facts }, rest(4)]);
    expect([outcome, sink.text]).toEqual([whole(), WHOLE]);
  });

  it('is complete if the connection breaks after the last byte', async () => {
    const { outcome, ranges } = await receive([part(0, 10)]);
    expect([outcome, ranges.length]).toEqual([whole(), 1]);
  });

  it('accepts an empty object', async () => {
    const empty = factsFor('');
    expect((await receive([{ text: '' }])).outcome).toEqual(whole('', empty));
  });

  it('ends with the connection if the bucket returned a checksum and no size', async () => {
    const sizeless = factsFor(WHOLE, { size: undefined });
    const { outcome, progress } = await receive([{ text: WHOLE, facts: sizeless }]);
    expect(outcome).toEqual(whole(WHOLE, sizeless));
    expect(progress).toEqual({ begun: 0, expected: 0, bytes: 10 });
  });

  it('waits longer after each attempt without progress, and from the start after progress', async () => {
    const { outcome, slept } = await receive([part(0, 2), lost, dropped, part(2, 3), dropped, rest(3)]);
    expect(outcome).toEqual(whole());
    expect(slept).toEqual([200, 400, 800, 200, 400]);
  });

  it('stops after five attempts without a new byte', async () => {
    const { outcome, slept } = await receive([part(0, 2), lost, lost, lost, lost, lost, rest(2)]);
    expect(outcome).toMatchObject({ code: 'STORAGE_UNREACHABLE', cause: lost });
    expect(outcome).toHaveProperty('message', expect.stringContaining('2 bytes: '));
    expect(slept).toHaveLength(5);
  });

  it.each([
    ['is refused before the first byte', [missing], 1],
    ['cannot be reached, which the SDK already retried', [lost], 1],
    ['is refused after a drop', [part(0, 2), missing], 2],
  ])('is not repeated if the object %s', async (_, answers, requests) => {
    const { outcome, ranges } = await receive([...answers, rest(0)]);
    expect(outcome).toBe(answers.at(-1));
    expect(ranges).toHaveLength(requests);
  });

  it('is repeated if an error of the system comes before the first response', async () => {
    expect((await receive([dropped, rest(0)])).outcome).toMatchObject({ facts });
  });

  it('refuses more bytes than the object has, without writing them', async () => {
    const { outcome, sink, ranges } = await receive([part(0, 8), { text: 'ijk', facts, from: 8 }, rest(0)]);
    expect(outcome).toMatchObject({ code: 'STORAGE_CORRUPT' });
    expect([sink.text, ranges.length]).toEqual(['abcdefgh', 2]);
  });

  it('ends with the reason if it is aborted', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    const answer = part(0, 2, {
      get breaks() {
        stop.abort(reason);
        return dropped;
      },
    });
    const { outcome, ranges, slept } = await receive([answer, rest(2)], { signal: stop.signal });
    expect(outcome).toBe(reason);
    expect([ranges.length, slept]).toEqual([1, []]);
  });
});

describe('a transfer of earlier bytes', () => {
  it('continues them', async () => {
    const { outcome, sink, ranges, begun } = await receive([rest(6)], {}, { start: 'abcdef', known: facts });
    expect([outcome, sink.text]).toEqual([whole(), WHOLE]);
    expect([ranges, begun]).toEqual([[[6, etag]], []]);
  });

  it('requests the whole object if its ETag is weak', async () => {
    const weak = { ...facts, etag: 'W/"x"' };
    const answers = [
      { text: WHOLE, facts: weak },
      { text: WHOLE, facts: weak },
    ];
    const { sink, ranges } = await receive(answers, {}, { start: 'abc', known: weak });
    expect(sink.text).toBe(WHOLE);
    expect(ranges[0]).toEqual([undefined, undefined]);
  });

  it('uses the object that is already open', async () => {
    const opened: Opened = {
      kind: 'object',
      facts,
      from: 0,
      body: (async function* () {
        await Promise.resolve();
        yield Buffer.from('abc');
      })(),
      cancel: () => undefined,
    };
    const { sink, ranges } = await receive([rest(3)], { opened });
    expect([sink.text, ranges]).toEqual([WHOLE, [[3, etag]]]);
  });
});

describe('an object that changes during its transfer', () => {
  const other = 'ABCDEFGHIJKL';
  const new_ = factsFor(other);

  it.each<[string, Response | Opened]>([
    ['the condition fails', { kind: 'changed' }],
    ['another ETag arrives', { text: other.slice(4), facts: new_, from: 4 }],
    ['another size arrives', { text: '', facts: { ...facts, size: 12 }, from: 4 }],
    ['another offset arrives', { text: WHOLE.slice(5), facts, from: 5 }],
  ])('is transferred from scratch if %s', async (_, answer) => {
    const { outcome, sink, begun, ranges, progress, cancelled } = await receive([
      part(0, 4),
      answer,
      { text: other },
    ]);
    expect([outcome, sink.text]).toEqual([whole(other, new_), other]);
    expect([begun, ranges.at(-1)]).toEqual([
      [etag, new_.etag],
      [undefined, undefined],
    ]);
    expect(progress).toEqual({ begun: 1, expected: other.length, bytes: other.length });
    expect(cancelled).toEqual('kind' in answer ? [] : [2]);
  });

  it.each<[string, string, Response]>([
    ['corrupt if it keeps changing', 'STORAGE_CORRUPT', { text: 'x', facts: new_, from: 4 }],
    ['unreachable if the bucket ignores ranges', 'STORAGE_UNREACHABLE', { text: WHOLE, facts, from: 0 }],
  ])('is %s', async (_, code, answer) => {
    const round = [part(0, 4), answer];
    const { outcome, ranges } = await receive([...round, ...round, ...round, ...round, rest(0)]);
    expect(outcome).toMatchObject({ code });
    expect(ranges).toHaveLength(8);
  });
});

describe('a response that proves nothing', () => {
  it.each<[string, Partial<ObjectFacts>]>([
    ['without an ETag', { etag: undefined }],
    ['without a size and a checksum', { size: undefined, md5: undefined }],
  ])('is refused and canceled: %s', async (_, without) => {
    const { outcome, cancelled, sink } = await receive([{ text: WHOLE, facts: { ...facts, ...without } }]);
    expect(outcome).toMatchObject({ code: 'STORAGE_CORRUPT' });
    expect([cancelled, sink.text]).toEqual([[1], '']);
  });
});
