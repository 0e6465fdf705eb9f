import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { itemTexts } from '../../../src/kernel/text/json-text.ts';

describe('the items of a list as text', () => {
  it('are those that JSON.parse finds, for any list in any layout', () => {
    const layouts = fc.constantFrom(undefined, 1, '\t', '\n\r  ');
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.jsonValue(), layouts, (data, meta, layout) => {
        const text = JSON.stringify({ meta, data, more: { data: [meta] } }, null, layout);
        const parsed = JSON.stringify(data);
        expect(
          `[${itemTexts(text, 'data')
            .map((item) => JSON.stringify(JSON.parse(item)))
            .join()}]`,
        ).toBe(parsed);
      }),
    );
  });

  it('keep digits and duplicate members, and follow the last list of that name', () => {
    expect(
      itemTexts(
        '{"data":[1,2],"x":{"data":[9]},"data": [ 12345678901234567890 , {"a":1.0,"a":[ ]} ]}',
        'data',
      ),
    ).toEqual(['12345678901234567890', '{"a":1.0,"a":[ ]}']);
    expect(itemTexts('{"data":[ ]}', 'data')).toEqual([]);
    expect(itemTexts('["data",[1]]', 'data')).toEqual([]);
  });
});
