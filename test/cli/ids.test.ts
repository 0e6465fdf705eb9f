import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import { suggestIds } from '../../src/cli/completion/similar-ids.ts';
import { readIds } from '../../src/cli/input/ids.ts';
import { nearest } from '../../src/kernel/text/nearest.ts';

let notices: string[];
const terminal = { notice: (text: string) => notices.push(text) };
beforeEach(() => {
  notices = [];
});

describe('IDs', () => {
  it('are each used once, in order', async () => {
    expect(await readIds(['b', 'a', 'b'], 'envelope ID', terminal)).toEqual({
      ids: ['b', 'a'],
      stream: true,
      fromStdin: false,
    });
    expect(await readIds(['a'], 'envelope ID', terminal)).toEqual({
      ids: ['a'],
      stream: false,
      fromStdin: false,
    });
    // The type of the result depends on the arguments, not on their values.
    expect(await readIds(['a', 'a'], 'envelope ID', terminal)).toEqual({
      ids: ['a'],
      stream: true,
      fromStdin: false,
    });
  });

  it('are read from stdin for -, from the first column of tab-separated lines', async () => {
    const stdin = Readable.from(['a\tSENT\r\n\n  b  \n', 'c']);
    expect(await readIds(['x', '-'], 'envelope ID', terminal, stdin)).toEqual({
      ids: ['x', 'a', 'b', 'c'],
      stream: true,
      fromStdin: true,
    });
    expect(await readIds(['-'], 'envelope ID', terminal, Readable.from(['only\n']))).toEqual({
      ids: ['only'],
      stream: true,
      fromStdin: true,
    });
    expect(notices).toEqual([]);
  });

  it.each([
    ['env_1\tsigner_1', { env_1: ['signer_1'] }],
    ['env_1 signer_1', { env_1: ['signer_1'] }],
    ['env_1\tann@example.com\r\nenv_1\tbob@example.com', { env_1: ['ann@example.com', 'bob@example.com'] }],
    ['env_1 \t signer_1', { env_1: ['signer_1'] }],
    ['env_1\tSENT\ttmpl_nda\tann@example.com', undefined],
    ['env_1\tsigner_1\nenv_1', undefined],
    ['env_1\t', undefined],
  ])('are read with the signer after a tab or blanks: %j', async (text, signers) => {
    const read = await readIds(['-'], 'envelope ID', terminal, Readable.from([Buffer.from(text)]));
    expect(read.ids).toEqual(['env_1']);
    expect(read.signers && Object.fromEntries(read.signers)).toEqual(signers);
  });

  it('are read in UTF-16, as PowerShell writes them', async () => {
    const stdin = Readable.from([Buffer.from('\ufeffenv_1\r\nenv_2\r\n', 'utf16le')]);
    expect((await readIds(['-'], 'envelope ID', terminal, stdin)).ids).toEqual(['env_1', 'env_2']);
  });

  it.each(['[\n  {"id":"env_1"}\n]', '{"id":"env_1"}\n{"id":"env_2"}', '[]', ' \n[', '\ufeff{'])(
    'are refused as JSON: %j',
    async (text) => {
      const reading = readIds(['-'], 'envelope ID', terminal, Readable.from([Buffer.from(text)]));
      await expect(reading).rejects.toMatchObject({ code: 'USAGE' });
    },
  );

  it('may be missing on stdin, with a notice', async () => {
    expect(await readIds(['-'], 'envelope ID', terminal, Readable.from([]))).toEqual({
      ids: [],
      stream: true,
      fromStdin: true,
    });
    expect(notices).toHaveLength(1);
  });

  it.each([[[]], [['']]])('are refused: %j', async (words) => {
    await expect(readIds(words, 'envelope ID', terminal)).rejects.toMatchObject({ code: 'USAGE' });
  });
});

describe('storage keys', () => {
  it('are used unchanged as arguments', async () => {
    expect((await readIds([' a b ', 'c\td', '"e"'], 'storage key', terminal)).ids).toEqual([
      ' a b ',
      'c\td',
      '"e"',
    ]);
  });

  it('are lines on stdin, or JSON strings if spaces and tabs matter', async () => {
    const stdin = Readable.from(['a b.pdf\t12\n', '" x\\ty "\n', '"half\n', '"quoted" more\n']);
    expect((await readIds(['-'], 'storage key', terminal, stdin)).ids).toEqual([
      'a b.pdf',
      ' x\ty ',
      '"half',
      '"quoted" more',
    ]);
  });
});

describe('suggestions', () => {
  it('are the known IDs that contain a part of one', () => {
    const known = ['env_aab1', 'env_e44c9', 'env_e44c7'].map((id) => ({ id, label: '' }));
    expect(suggestIds({ kind: 'envelope', id: 'e44c' }, known)).toEqual(['env_e44c9', 'env_e44c7']);
    expect(suggestIds({ kind: 'envelope', id: 'env_aa' }, known)).toEqual(['env_aab1']);
    expect(suggestIds({ kind: 'envelope', id: 'env' }, known)).toEqual([]);
  });

  it('contain only words that are similar', () => {
    const words = ['envelopes list', 'envelopes get', 'sandbox start'];
    expect(nearest('envelopes lst', words)).toBe('envelopes list');
    expect(nearest('ENVELOPES GET', words)).toBe('envelopes get');
    expect(nearest('qwertyuiop', words)).toBeUndefined();
  });
});
