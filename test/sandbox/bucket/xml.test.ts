import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../../../src/sandbox/bucket/s3-error.ts';
import { xmlDocument } from '../../../src/sandbox/bucket/xml.ts';
import { childText, readXml } from '../../../src/sandbox/bucket/xml-reader.ts';

describe('XML', () => {
  it('that is written is read back, whatever the text', () => {
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

  it('as clients write it is understood', () => {
    const read = readXml(
      '\ufeff<?xml version="1.0"?>\n<!-- a <b> --><s3:Delete xmlns:s3="http://s3" a=\'>\'>\n' +
        '<Object ><Key>&#x65E5;&#13;&lt;<![CDATA[<&>]]></Key></Object><Quiet/></s3:Delete>\n',
    );
    expect(read.name).toBe('Delete');
    expect(read.children.map(({ name }) => name)).toEqual(['Object', 'Quiet']);
    expect(read.children[0] && childText(read.children[0], 'Key')).toBe('日\r<<&>');
  });

  it.each([
    '',
    'text',
    '<a>',
    '</a>',
    '<a></b>',
    '<a/><b/>',
    '<a>&none;</a>',
    '<a>&</a>',
    '<a>&#xD800;</a>',
    '<a>&#x110000;</a>',
    '<a b=c/>',
    '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
    '<a>'.repeat(50) + '</a>'.repeat(50),
    '<!-- <a/>',
  ])('that is not well-formed or not needed is refused: %s', (text) => {
    expect(() => readXml(text)).toThrow(S3Error);
  });

  it('of any kind is read or refused, and nothing else happens', () => {
    const piece = fc.constantFrom(
      '<a>',
      '</a>',
      '<b/>',
      '&lt;',
      '&',
      ']]>',
      '<![CDATA[',
      '<!--',
      '-->',
      '"',
      'x',
      '<?',
      '?>',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        try {
          readXml(pieces.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(S3Error);
        }
      }),
      { numRuns: 500 },
    );
  });
});
