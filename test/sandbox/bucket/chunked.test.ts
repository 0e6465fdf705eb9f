import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signingKey } from '../../../src/sandbox/bucket/canonical.ts';
import { unchunk } from '../../../src/sandbox/bucket/chunked.ts';
import { S3Error } from '../../../src/sandbox/bucket/s3-error.ts';

/** Splits bytes at these positions, like a network. */
async function* cut(bytes: Buffer, places: readonly number[]): AsyncGenerator<Buffer> {
  let start = 0;
  for (const place of [...places.map((one) => one % (bytes.length + 1)), bytes.length].sort(
    (a, b) => a - b,
  )) {
    yield bytes.subarray(start, place);
    start = place;
  }
}

describe('an aws-chunked body', () => {
  it('is accepted with the signatures of Amazon’s own example, and no others', async () => {
    const scope = { date: '20130524', region: 'us-east-1', service: 's3' };
    const chain = {
      ...{ scope, time: '20130524T000000Z' },
      key: signingKey('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', scope),
      seed: '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
    };
    const body = (first: string) =>
      Buffer.from(
        '10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n' +
          `${first.repeat(65_536)}\r\n` +
          '400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n' +
          `${'a'.repeat(1_024)}\r\n` +
          '0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n',
      );
    const read = (first: string) =>
      buffer(unchunk(cut(body(first), [9, 40_000]), { chain, trailers: new Map() }));
    expect((await read('a')).toString()).toBe('a'.repeat(66_560));
    await expect(read('b')).rejects.toMatchObject({ code: 'SignatureDoesNotMatch' });
  });

  it('is the same for any chunking', { tags: ['full'] }, async () => {
    const chunk = fc.uint8Array({ minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(fc.array(chunk, { maxLength: 5 }), fc.array(fc.nat(400)), async (chunks, places) => {
        const framed = chunks.map((one) =>
          Buffer.concat([Buffer.from(`${one.length.toString(16)}\r\n`), one, Buffer.from('\r\n')]),
        );
        const body = Buffer.concat([...framed, Buffer.from('0\r\nX-Amz-Trailer-1: a:b\r\n\r\n')]);
        const trailers = new Map<string, string>();
        const read = await buffer(unchunk(cut(body, places), { trailers }));
        expect(read.equals(Buffer.concat(chunks))).toBe(true);
        expect([...trailers]).toEqual([['x-amz-trailer-1', 'a:b']]);
      }),
    );
  });

  it('is read or refused for any bytes', { tags: ['full'] }, async () => {
    const piece = fc.constantFrom('0', '5', 'a', '\r\n', ';', ':', '12345', 'ffffffff', ';chunk-signature=0');
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        const read = buffer(unchunk(cut(Buffer.from(pieces.join('')), []), { trailers: new Map() }));
        await read.catch((error: unknown) => expect(error).toBeInstanceOf(S3Error));
      }),
      { numRuns: 300 },
    );
  });
});
