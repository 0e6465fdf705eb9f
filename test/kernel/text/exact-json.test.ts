import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  exactJsonText,
  exactNumbersIn,
  parseExactJson,
  valueText,
} from '../../../src/kernel/text/exact-json.ts';

it.each([
  '{"n":9007199254740993}',
  '{"n":12345678901234567890,"m":[1,-9007199254740993]}',
  '{"n":1e400,"m":-1e400,"o":1e-400}',
  '{"n":0.12345678901234567890}',
  '[18446744073709551615]',
  '{"text":": 12345678901234567890","n":12345678901234567891}',
])('keeps the digits of %s', (text) => {
  expect(exactJsonText(parseExactJson(text))).toBe(text);
});

it.each([
  ['{"n":1.10}', { n: 1.1 }],
  ['{"n":9007199254740992}', { n: 2 ** 53 }],
  ['{"n":1e3,"m":0.1e1,"z":0.0,"k":-0}', { n: 1000, m: 1, z: 0, k: -0 }],
  ['{"n":1.7976931348623157e308}', { n: Number.MAX_VALUE }],
  ['{"n":100000000000000000000000}', { n: 1e23 }],
  ['{"n":0.1000000000000000000000}', { n: 0.1 }],
])('parses %s as usual', (text, value) => {
  expect(parseExactJson(text)).toEqual(value);
});

it('parses and writes every other value as JSON does', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, space) => {
      const text = JSON.stringify(value, null, space);
      expect(parseExactJson(text)).toEqual(JSON.parse(text));
      expect(exactJsonText(parseExactJson(text), space)).toBe(text);
    }),
  );
});

it('shows and finds the number', () => {
  const value = parseExactJson('{"metadata":{"order":[12345678901234567890]}}');
  expect(valueText(value)).toBe('{"metadata":{"order":[12345678901234567890]}}');
  expect([...exactNumbersIn(value)]).toEqual([{ path: 'metadata.order.0', text: '12345678901234567890' }]);
});
