import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isIntactLine, readLine, writeLine } from '../../src/journal/line.ts';
import { eachLine, linesOf } from '../../src/journal/lines.ts';

const MIB = 1024 * 1024;
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-lines-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function read(path: string, from?: number): Promise<{ text: string; end: number }[]> {
  const lines: { text: string; end: number }[] = [];
  await eachLine(path, from ?? 0, ({ bytes, end }) => lines.push({ text: bytes.toString(), end }));
  const kept = [];
  for await (const { bytes, end } of linesOf(path, from)) kept.push({ bytes, end });
  expect(kept.map(({ bytes, end }) => ({ text: bytes.toString(), end }))).toEqual(lines);
  return lines;
}

test('returns complete lines of any length, and no unfinished one', async () => {
  const path = join(folder, 'long');
  const texts = ['first', '', 'a'.repeat(3 * MIB), 'b'.repeat(MIB - 1), 'é'.repeat(MIB), 'last'];
  await writeFile(path, `${texts.join('\n')}\ntorn`);
  const lines = await read(path);
  expect(lines.map(({ text }) => text.length)).toEqual(texts.map((text) => text.length));
  expect(lines.map(({ text }) => text)).toEqual(texts);
  const { end } = lines[3] ?? { end: 0 };
  await appendFile(path, ' no more\n');
  expect((await read(path, end)).map(({ text }) => text)).toEqual([texts[4], 'last', 'torn no more']);
  expect(await read(join(folder, 'missing'))).toEqual([]);
});

test('accepts a line only with every byte of its checksum', () => {
  for (let number = 0; number < 300; number++) {
    const line = Buffer.from(writeLine({ number }).trimEnd());
    expect(readLine(line)).toEqual({ number });
    for (let at = 0; at < line.length; at++) {
      const other = Buffer.from(line);
      other[at] = (other[at] ?? 0) ^ 1;
      expect(isIntactLine(other)).toBe(false);
    }
  }
  expect(isIntactLine(Buffer.from('}'))).toBe(false);
});
