import { verifyFolder } from '../../documents/archive/verify.ts';
import type { FileResult } from '../../documents/download/file.ts';
import { counted } from '../../kernel/duration.ts';
import { StorageError } from '../../kernel/errors.ts';
import { writeJsonLine } from '../../output/json.ts';
import { startSpinner } from '../../output/spinner.ts';
import { safeLine } from '../../output/text.ts';
import type { Context } from '../context.ts';
import { renderFile } from './view.ts';

/**
 * Checks a folder against its list, a line or JSON line for each file.
 * @throws StorageError when a file is not what was downloaded.
 */
export async function verifyAll(dir: string, context: Context): Promise<void> {
  const spinner = await startSpinner('Checking', context.terminal, context.json);
  let [files, wrong] = [0, 0];
  try {
    for await (const file of verifyFolder(dir, context.signal)) {
      files++;
      if (file.error !== null) wrong++;
      spinner.text(`Checking  ${counted(files, 'file')}`);
      await spinner.aside(() => writeVerified(file, context));
    }
  } finally {
    spinner.stop();
  }
  if (wrong > 0) {
    throw new StorageError(
      'STORAGE_CORRUPT',
      `${wrong} of ${counted(files, 'file')} failed the check; each is reported above.`,
      { hint: 'Fetch them again: `esign envelopes download ID --dir DIR --force`.' },
    );
  }
  if (!context.json) context.notice(`${counted(files, 'file')} checked; all are as downloaded.`);
}

function writeVerified(file: FileResult, { terminal, json }: Context): Promise<void> | void {
  if (json) return writeJsonLine(file, terminal);
  if (file.error === null) return terminal.out(renderFile(file, terminal));
  terminal.err(`${terminal.styleErr('red', '✗')} ${safeLine(file.error.message)}\n`);
}
