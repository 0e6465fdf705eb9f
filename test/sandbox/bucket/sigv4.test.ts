import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../../../src/sandbox/bucket/s3-error.ts';
import {
  canonicalRequest,
  decode,
  encode,
  parseQuery,
  type SignedRequest,
  verifySignature,
} from '../../../src/sandbox/bucket/sigv4.ts';
import { basic, pathOf, percent, presign, queryOf, sha256, signHeaders } from './witness.ts';

/** The examples that Amazon publishes with the specification ("Signature Calculations"). */
const EXAMPLE = {
  id: 'AKIAIOSFODNN7EXAMPLE',
  secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  at: Date.UTC(2013, 4, 24),
};
const EMPTY = sha256('');
const account = { region: 'us-east-1', accessKeyId: EXAMPLE.id, secretAccessKey: EXAMPLE.secret };
const verified = (request: SignedRequest) => verifySignature(request, account, EXAMPLE.at);

function example(
  line: { method: string; path: string; query?: string },
  headers: Record<string, string>,
  signature: string,
) {
  const all: Record<string, string> = {
    ...{
      host: 'examplebucket.s3.amazonaws.com',
      'x-amz-content-sha256': EMPTY,
      'x-amz-date': '20130524T000000Z',
    },
    ...headers,
  };
  const names = Object.keys(all).sort().join(';');
  const authorization =
    `AWS4-HMAC-SHA256 Credential=${EXAMPLE.id}/20130524/us-east-1/s3/aws4_request,` +
    `SignedHeaders=${names},Signature=${signature}`;
  const distinct = Object.fromEntries(
    Object.entries({ ...all, authorization }).map(([name, value]) => [name, [value]]),
  );
  return { method: line.method, rawPath: line.path, rawQuery: line.query ?? '', headers: distinct };
}

describe('a signature', () => {
  it.each([
    [
      example(
        { method: 'GET', path: '/test.txt' },
        { range: 'bytes=0-9' },
        'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
      ),
    ],
    [
      example(
        { method: 'PUT', path: '/test%24file.text' },
        {
          date: 'Fri, 24 May 2013 00:00:00 GMT',
          'x-amz-storage-class': 'REDUCED_REDUNDANCY',
          'x-amz-content-sha256': sha256('Welcome to Amazon S3.'),
        },
        '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
      ),
    ],
    [
      example(
        { method: 'GET', path: '/', query: 'lifecycle' },
        {},
        'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
      ),
    ],
    [
      example(
        { method: 'GET', path: '/', query: 'max-keys=2&prefix=J' },
        {},
        '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
      ),
    ],
  ])('is correct for Amazon’s own examples', (request) => {
    expect(verified(request)).toMatch(/^[0-9a-f]{64}$/);
    expect(() => verified({ ...request, method: 'HEAD' })).toThrow('does not match');
  });

  it('is correct for Amazon’s presigned example', () => {
    const rawQuery =
      'X-Amz-Algorithm=AWS4-HMAC-SHA256' +
      `&X-Amz-Credential=${EXAMPLE.id}%2F20130524%2Fus-east-1%2Fs3%2Faws4_request` +
      '&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host' +
      '&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404';
    const request = {
      method: 'GET',
      rawPath: '/test.txt',
      rawQuery,
      headers: { host: ['examplebucket.s3.amazonaws.com'] },
    };
    expect(verified(request)).toBe('UNSIGNED-PAYLOAD');
  });
});

const text = fc.string({ unit: 'binary', maxLength: 20 });
const segment = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 });
const query = fc.dictionary(
  segment.filter((name) => !name.startsWith('X-Amz')),
  text,
  { maxKeys: 4 },
);
const value = fc.string({ unit: 'grapheme-ascii', maxLength: 12 });
const headerName = fc.stringMatching(/^x-[a-z]{1,8}$/);

describe('any signed request', () => {
  const who = {
    accessKeyId: EXAMPLE.id,
    secretAccessKey: EXAMPLE.secret,
    region: 'us-east-1',
    service: 's3',
  };
  const request = fc.record({
    method: fc.constantFrom('GET', 'PUT', 'DELETE'),
    path: segment,
    query,
    headers: fc.dictionary(
      headerName,
      value.map((one) => one.trim().replace(/ +/g, ' ')),
      { maxKeys: 4 },
    ),
  });

  it('is verified if it comes from the independent signer, in headers or presigned', () => {
    fc.assert(
      fc.property(request, (wanted) => {
        const toSign = {
          ...wanted,
          headers: { ...wanted.headers, host: 'h' },
          at: new Date(EXAMPLE.at),
          payload: EMPTY,
        };
        const { target, headers } = signHeaders(toSign, who);
        const [rawPath = '', rawQuery = ''] = target.split('?');
        const distinct = Object.fromEntries(Object.entries(headers).map(([name, one]) => [name, [one]]));
        const arrived = { method: wanted.method, rawPath, rawQuery, headers: distinct };
        expect(verified(arrived)).toBe(EMPTY);
        const [path = '', presigned = ''] = presign(toSign, who, 60).split('?');
        const plain = Object.fromEntries(Object.entries(toSign.headers).map(([name, one]) => [name, [one]]));
        const link = { method: wanted.method, rawPath: path, rawQuery: presigned, headers: plain };
        expect(verified(link)).toBe('UNSIGNED-PAYLOAD');
      }),
    );
  });

  it('is refused if it is modified afterward', () => {
    const digit = fc.integer({ min: 0, max: 63 });
    fc.assert(
      fc.property(request, digit, (wanted, at) => {
        const toSign = { ...wanted, headers: { host: 'h' }, at: new Date(EXAMPLE.at), payload: EMPTY };
        const { target, headers, signature } = signHeaders(toSign, who);
        const other = signature[at] === '0' ? '1' : '0';
        const forged = `${signature.slice(0, at)}${other}${signature.slice(at + 1)}`;
        const [rawPath = '', rawQuery = ''] = target.split('?');
        const arrived = (name: string, one: string) => ({
          method: wanted.method,
          rawPath,
          rawQuery,
          headers: Object.fromEntries(
            Object.entries({ ...headers, [name]: one }).map(([key, it]) => [key, [it]]),
          ),
        });
        const authorization = (headers.authorization ?? '').replace(signature, forged);
        expect(() => verified(arrived('authorization', authorization))).toThrow(S3Error);
        expect(() => verified(arrived('x-amz-date', basic(new Date(EXAMPLE.at + 1_000))))).toThrow(
          'does not match',
        );
      }),
    );
  });

  it('has one canonical form, in any encoding on the wire', () => {
    const everything = (one: string) =>
      [...Buffer.from(one)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
    fc.assert(
      fc.property(segment, query, (path, parameters) => {
        const pairs = Object.entries(parameters);
        const forms = [
          { rawPath: pathOf(path), rawQuery: queryOf(parameters) },
          {
            rawPath: `/${path.split('/').map(everything).join('/')}`,
            rawQuery: [...pairs]
              .reverse()
              .map((pair) => pair.map(everything).join('='))
              .join('&'),
          },
          {
            rawPath: pathOf(path),
            rawQuery: pairs
              .map((pair) => pair.map((one) => percent(one).replaceAll('%20', '+')).join('='))
              .join('&'),
          },
        ];
        const canonical = forms.map((form) =>
          canonicalRequest({ method: 'GET', headers: {}, ...form }, [], EMPTY),
        );
        expect(new Set(canonical).size).toBe(1);
        expect(canonical[0]?.split('\n').slice(1, 3)).toEqual([pathOf(path), queryOf(parameters)]);
      }),
    );
  });

  it('survives encoding and decoding', () => {
    fc.assert(
      fc.property(text, query, (one, parameters) => {
        expect(encode(one)).toBe(percent(one));
        expect(decode(encode(one))).toBe(one);
        expect(Object.fromEntries(parseQuery(queryOf(parameters)))).toEqual({ ...parameters });
      }),
    );
  });
});

it('compares header values by their bytes, without extra spaces', () => {
  const canonical = canonicalRequest(
    { method: 'GET', rawPath: '/', rawQuery: '', headers: { b: ['  x   y '], a: ['1', ' 2'] } },
    ['b', 'a'],
    EMPTY,
  );
  expect(canonical).toBe(`GET\n/\n\na:1,2\nb:x y\n\na;b\n${EMPTY}`);
});

it('sorts query parameters by name, even if one is a prefix of another', () => {
  const request = { method: 'GET', rawPath: '/', rawQuery: 'a%00=2&a=1&B=3&a-b=4', headers: {} };
  expect(canonicalRequest(request, [], EMPTY).split('\n')[2]).toBe('B=3&a=1&a%00=2&a-b=4');
});
