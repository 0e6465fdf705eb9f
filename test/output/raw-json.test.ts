import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indentJson } from '../../src/kernel/text/json-text.ts';

describe('pretty-printed JSON text', () => {
  it('is formatted like JSON.stringify does, for any value in any layout', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t', '\n\r  '), (value, layout) => {
        const pretty = JSON.stringify(value, null, 2);
        expect(indentJson(JSON.stringify(value, null, layout))).toBe(pretty);
      }),
    );
  });

  it('keeps digits, duplicate members, and their order', () => {
    expect(indentJson('{"b":12345678901234567890,"2":1.50,"1":1e2,"b":[ ]}')).toBe(
      '{\n  "b": 12345678901234567890,\n  "2": 1.50,\n  "1": 1e2,\n  "b": []\n}',
    );
  });
});
