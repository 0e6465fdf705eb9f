import { verifyFolder } from '../documents/verify.ts';
import { counted } from '../kernel/duration.ts';
import { StorageError } from '../kernel/errors.ts';
import { renderVerified } from '../output/file-view.ts';
import { writeJsonLine } from '../output/json.ts';
import { startSpinner } from '../output/spinner.ts';
import type { Surroundings } from './surroundings.ts';

/**
 * Checks a folder against its list, a line or JSON line for each file.
 * @throws StorageError when a file is not as the list says.
 */
export async function verifyAll(dir: string, around: Surroundings): Promise<void> {
  const { terminal, json } = around;
  const spinner = await startSpinner('Checking', terminal, json);
  let files = 0;
  let wrong = 0;
  try {
    for await (const file of verifyFolder(dir, around.signal)) {
      files++;
      if (file.status !== 'ok') wrong++;
      spinner.text(`Checking  ${counted(files, 'file')}`);
      await spinner.aside(() =>
        json ? writeJsonLine(file, terminal) : terminal.out(renderVerified(file, terminal)),
      );
    }
  } finally {
    spinner.stop();
  }
  if (wrong > 0) {
    throw new StorageError(
      'STORAGE_CORRUPT',
      `${wrong} of ${counted(files, 'file')} in ${dir} not as listed.`,
      {
        hint: 'Fetch them again: a download with --force replaces files that are different.',
      },
    );
  }
  if (!json) around.notice(`${counted(files, 'file')} as listed.`);
}
