import { expect, it } from 'vitest';
import { toUtf8 } from '../../../src/kernel/text/utf8.ts';

const TEXT = 'env_1\r\nenv_2\n';
const little = (text: string) => Buffer.from(text, 'utf16le');

it.each([
  ['UTF-8', Buffer.from(TEXT)],
  ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${TEXT}`)],
  ['UTF-16LE with a byte order mark, as PowerShell writes it', little(`\ufeff${TEXT}`)],
  ['UTF-16BE with a byte order mark', little(`\ufeff${TEXT}`).swap16()],
  ['UTF-16LE', little(TEXT)],
  ['UTF-16BE', little(TEXT).swap16()],
])('reads %s', (_, bytes) => {
  expect(toUtf8(bytes).toString()).toBe(TEXT);
});

it.each(['', 'é', 'ab', '日本語'])('leaves UTF-8 unchanged: %j', (text) => {
  expect(toUtf8(Buffer.from(text)).toString()).toBe(text);
});
