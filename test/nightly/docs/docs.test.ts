import { describe, expect, it } from 'vitest';
import { type Bindings, compare, inThisRun } from './expectation.ts';
import { callsOf, shownOf, snippetsOf } from './page.ts';

const page = `# Title

<!-- keeps running -->
<!-- exit: 5 -->
\`\`\`console
$ esign envelopes create --template tmpl_nda \\
    --send
Created env_085994b08deaa0744d20: SENT

$ esign envelopes list | head -1
\`\`\`
`;

describe('the page runner', () => {
  it('parses commands, their output, and the notes', () => {
    const [snippet] = snippetsOf('a.md', page);
    if (snippet === undefined) throw new Error('no snippet');
    expect([...snippet.notes]).toEqual([
      ['keeps running', ''],
      ['exit', '5'],
    ]);
    expect(shownOf(snippet)).toEqual([
      {
        command: 'esign envelopes create --template tmpl_nda \\\n    --send',
        output: ['Created env_085994b08deaa0744d20: SENT'],
      },
      { command: 'esign envelopes list | head -1', output: [] },
    ]);
    expect(callsOf(snippet)).toEqual(['envelopes create --template tmpl_nda --send', 'envelopes list']);
  });

  it.each(['<!-- setup: x -->\n', '<!-- meanwhile: x -->\n', '<!-- not run: x -->\ntext\n'])(
    'refuses a note without effect: %j',
    (text) => {
      expect(() => snippetsOf('a.md', `${text}\`\`\`sh\nx\n\`\`\`\n`)).toThrow(/a\.md:/);
    },
  );

  it('accepts other IDs, times, ports, and sizes, and recognizes them later', () => {
    const bindings: Bindings = new Map();
    const shown = ['API  http://127.0.0.1:4010/', '10:31:02  env_1  41.2 KB  in 3 days', '…', 'env_1 again'];
    const printed = [
      'API       http://127.0.0.1:33333/',
      '07:00:59  env_f00  43.0 KB     in 30 days',
      'more',
      'env_f00 again',
    ];
    expect(compare(shown, printed, bindings)).toBe('');
    expect(inThisRun('esign get env_1 env_12 http://127.0.0.1:4010/x $env_1', bindings)).toBe(
      'esign get env_f00 env_12 http://127.0.0.1:33333/x $env_1',
    );
    expect(compare(['env_1'], ['env_f01'], bindings)).toContain('shown: env_1');
  });

  it.each([
    [['Created'], ['Create']],
    [['a'], ['a', 'b']],
    [['a', 'b'], ['a']],
    [
      ['a', 'b'],
      ['a', 'x', 'b'],
    ],
    [['env_1 and env_1'], ['env_2 and env_3']],
    [['2 signers'], ['3 signers']],
    [['41.2 KB'], ['67.0 KB']],
    [['41.2 KB'], ['41.2 MB']],
  ])('distinguishes %j from %j', (shown, printed) => {
    expect(compare(shown, printed, new Map())).not.toBe('');
  });
});
