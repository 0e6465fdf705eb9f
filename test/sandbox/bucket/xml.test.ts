import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { xmlDocument } from '../../../src/sandbox/bucket/call.ts';
import { childText, readXml } from './xml-reader.ts';

describe('XML', () => {
  it('is parsed back after it is written, for any text', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 30 });
    const isXml = (one: string) => !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(one);
    fc.assert(
      fc.property(fc.array(text.filter(isXml), { maxLength: 5 }), text.filter(isXml), (keys, title) => {
        const read = readXml(xmlDocument('Delete', { Title: title, Object: keys.map((Key) => ({ Key })) }));
        expect(read.name).toBe('Delete');
        expect(childText(read, 'Title')).toBe(title);
        const objects = read.children.filter(({ name }) => name === 'Object');
        expect(objects.map((object) => childText(object, 'Key'))).toEqual(keys);
      }),
    );
  });
});
