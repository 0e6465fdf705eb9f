import { copyFile, open } from 'node:fs/promises';
import { writeLine } from '../../../journal/line.ts';
import { linesOf } from '../../../journal/lines.ts';
import { headerOf } from '../../../journal/scan.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { replaceAtomic } from '../../../kernel/files/files.ts';
import { readRegularBytes } from '../../../kernel/files/regular-file.ts';
import { tryParseJson } from '../../../kernel/json.ts';
import { SERVICE_FORMAT } from './records.ts';

/**
 * Converts a journal of version 0.1, in which a line was a list of changes without a checksum, to this version. The original is kept with
 * `.0.1` appended to its name. Any other file is left unchanged.
 * @throws UsageError if a line can't be read; then nothing has changed.
 */
export async function upgradeJournal(path: string): Promise<void> {
  if ((await firstByteOf(path)) !== '[') return;
  await replaceAtomic(path, async (draft) => {
    await rewrite(path, draft);
    await copyFile(path, `${path}.0.1`);
  });
}

async function rewrite(path: string, draft: string): Promise<void> {
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.appendFile(writeLine(headerOf(SERVICE_FORMAT)));
    let number = 0;
    for await (const { bytes } of linesOf(path)) {
      number += 1;
      const entry = SERVICE_FORMAT.read({ changes: tryParseJson(bytes.toString('utf8')) });
      if (entry === undefined)
        throw new UsageError(`Line ${number} of the journal ${path} is damaged. It was left unchanged.`, {
          hint: 'It was written by esign 0.1. To start with an empty sandbox, move the file out of the way.',
        });
      await file.appendFile(writeLine(entry));
    }
  } finally {
    await file.close();
  }
}

async function firstByteOf(path: string): Promise<string> {
  const bytes = await readRegularBytes(path, { maxBytes: 1 });
  return bytes?.toString('latin1') ?? '';
}
