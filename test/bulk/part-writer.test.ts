import { expect, it } from 'vitest';
import { bufferedWriter } from '../../src/bulk/commands/rows-file.ts';

async function written(outIsTty: boolean, text: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  const out = (piece: string | Uint8Array) => {
    pieces.push(Buffer.from(piece));
    return Promise.resolve();
  };
  const writer = bufferedWriter({ outIsTty, out });
  await writer.write(text);
  await writer.end();
  return Buffer.concat(pieces).toString();
}

it('prints the text as it is in a pipe, and nothing that acts on a terminal', async () => {
  const row = 'Zoë,\u001b]52;c;eA==\u0007\u009b2J\u202e\n';
  expect(await written(false, row)).toBe(row);
  const shown = await written(true, row);
  expect(shown).toContain('Zoë,');
  expect(shown.endsWith('\n')).toBe(true);
  expect(shown).not.toMatch(/[\u001b\u0007\u009b\u202e]/);
});
