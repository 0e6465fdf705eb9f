import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { argv } from './argv.ts';

describe('words of a command line', () => {
  it('are parted at blanks, and kept together by quotes', () => {
    expect(argv`envelopes create --subject 'Two words' --message ''`).toEqual([
      ...['envelopes', 'create', '--subject', 'Two words', '--message', ''],
    ]);
  });

  it('take a value as it is, and a list as a word each', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (value, list) => {
        expect(argv`get ${value} --name=${value} ${list} -q`).toEqual([
          ...['get', value, `--name=${value}`, ...list, '-q'],
        ]);
      }),
    );
  });
});
