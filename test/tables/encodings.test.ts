import { Readable } from 'node:stream';
import { createMultibyteEncoder } from '@exodus/bytes/multi-byte.js';
import { createSinglebyteEncoder } from '@exodus/bytes/single-byte.js';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/kernel/errors.ts';
import { collectAll } from '../../src/kernel/streams.ts';
import { encodingNamed } from '../../src/tables/encodings.ts';
import { openTableFile } from '../../src/tables/open-table.ts';

async function text(
  bytes: Buffer,
  encoding?: string,
  piece = 5,
): Promise<{ text: string; encoding: string }> {
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += piece)
      yield await Promise.resolve(bytes.subarray(at, at + piece));
  }
  const table = await openTableFile({ name: 'f.csv', bytes: pieces() }, { encoding });
  if (table.format === 'json') throw new Error('JSON');
  const lines: string[] = [];
  const ignore = { problem: () => undefined, warning: () => undefined };
  for await (const { cells } of table.records(ignore)) lines.push(cells.join(';'));
  return { text: lines.join('\n'), encoding: table.encoding };
}
const single = (encoding: string, content: string) => Buffer.from(createSinglebyteEncoder(encoding)(content));
const multi = (encoding: string, content: string) => Buffer.from(createMultibyteEncoder(encoding)(content));

describe('a text file', () => {
  it('is decoded as windows-1252 for each of its labels, including curly quotes and the euro sign', async () => {
    const bytes = Buffer.from([0x80, 0x92, 0x93, 0x94, 0x85, 0x8a, 0xfc, 0x0d, 0x0a]);
    for (const label of ['windows-1252', 'CP1252', 'latin1', 'iso-8859-1', 'us-ascii'])
      expect(await text(bytes, label)).toEqual({ text: '€’“”…Šü', encoding: 'windows-1252' });
  });

  it.each(['utf16le', 'utf16be'])(
    'is decoded as %s by its byte order mark, whatever --encoding says',
    async (kind) => {
      const bytes = Buffer.from('\ufeffemail;name\r\na@b.c;Žofie 日本\r\n', 'utf16le');
      if (kind === 'utf16be') bytes.swap16();
      for (const encoding of [undefined, 'windows-1252'])
        expect((await text(bytes, encoding)).text).toBe('email;name\na@b.c;Žofie 日本');
    },
  );

  it.each([
    ['iso-8859-2', single('iso-8859-2', 'Łukasz Żółć'), 'Łukasz Żółć'],
    ['iso-8859-16', single('iso-8859-16', 'Ștefan'), 'Ștefan'],
    ['koi8-r', single('koi8-r', 'Иван'), 'Иван'],
    ['shift_jis', multi('shift_jis', '山田 太郎'), '山田 太郎'],
    ['gb18030', multi('gb18030', '王小明'), '王小明'],
    ['utf-16le', Buffer.from('ada', 'utf16le'), 'ada'],
  ])('is decoded as %s on request', async (encoding, bytes, expected) => {
    expect((await text(bytes, encoding)).text).toBe(expected);
  });

  it('is refused in UTF-8 if a single-byte encoding is named: its letters would be garbled', async () => {
    await expect(text(Buffer.from('name\nZoë\n'), 'windows-1252')).rejects.toThrow(UsageError);
    expect((await text(Buffer.from('name\nZoe\n'), 'windows-1252')).text).toBe('name\nZoe');
    expect((await text(Buffer.from('name\nJosé', 'latin1'), 'windows-1252')).text).toBe('name\nJosé');
  });

  it('is refused if its encoding is not named', async () => {
    const bytes = single('windows-1252', 'email;name\nju@x.de;Jürgen Groß\n');
    await expect(text(bytes, undefined, 64)).rejects.toMatchObject({
      message: 'f.csv:2 is not UTF-8 text.',
      hint: expect.stringContaining('--encoding windows-1252') as unknown,
    });
  });

  it.each([
    ['utf-16le', Buffer.from('email;name\na@b.c;Ada\n', 'utf16le')],
    ['utf-16be', Buffer.from('email;name\na@b.c;Ada\n', 'utf16le').swap16()],
  ])('is recognized as %s without a byte order mark', async (encoding, bytes) => {
    await expect(text(bytes, undefined, 64)).rejects.toThrow(`It is probably ${encoding}.`);
  });

  it.each([
    ['in a name', 'email,name\nann@example.com,Ann\0Lee\n', 2],
    ['in the header', 'email\0,name\na@b.c,A\n', 1],
    ['twice', 'email,name\na@b.c,A\nb@b.c,\0\0B\n', 3],
    ['near the end', `email,name\n${'a@b.c,Ada\n'.repeat(1_000)}b@b.c,B\0\n`, 1_002],
    ['in a list with Windows line breaks', 'email,name\r\na@b.c,A\r\nb@b.c,\0B\r\n', 3],
  ])('is refused with a NUL character %s', async (_, content, line) => {
    await expect(text(Buffer.from(content))).rejects.toThrow(`f.csv:${line} contains a NUL character.`);
    const wide = Buffer.from(`\ufeff${content}`, 'utf16le');
    await expect(text(wide)).rejects.toThrow(`f.csv:${line} contains a NUL character.`);
  });

  it.each(['Иван Петров', '山田太郎'])('is recognized as UTF-16 with the name %s', async (name) => {
    const bytes = Buffer.from(`email,name\nivan@example.com,${name}\n`, 'utf16le');
    await expect(text(bytes, undefined, 64)).rejects.toThrow('It is probably utf-16le.');
  });

  it.each([
    ['in another encoding', single('windows-1252', 'name\nJürgen\n'), 'utf-8'],
    ['in UTF-16', Buffer.from('name\nAda\n', 'utf16le'), 'utf-8'],
    ['saved again in UTF-8', Buffer.from('name\nZoë\n'), 'windows-1252'],
  ])('%s is refused without suggesting flags that the command lacks', async (_, bytes, encoding) => {
    const source = { name: 'f.csv', bytes: Readable.from([bytes]) };
    const read = async () => {
      const table = await openTableFile(source, { hasFlags: false, before: { encoding } });
      if (table.format === 'csv')
        await collectAll(table.records({ problem: () => undefined, warning: () => undefined }));
    };
    const hint: unknown = expect.not.stringContaining('--encoding');
    await expect(read()).rejects.toMatchObject({ message: expect.stringContaining('text') as unknown, hint });
  });

  it('must have an existing encoding', async () => {
    await expect(encodingNamed('windows-12525')).rejects.toThrow(UsageError);
    await expect(encodingNamed('')).rejects.toThrow(UsageError);
    await expect(encodingNamed('hz-gb-2312')).rejects.toThrow(UsageError);
  });
});
