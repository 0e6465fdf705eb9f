import { verifyFolder } from '../../documents/archive/verify.ts';
import type { FileResult } from '../../documents/download/file.ts';
import { counted } from '../../kernel/duration.ts';
import { StorageError } from '../../kernel/errors.ts';
import { startSpinner } from '../../output/spinner.ts';
import { safeLine } from '../../output/text.ts';
import { Batch, type Outcome } from '../batch.ts';
import type { Context } from '../context.ts';
import { renderFile } from './view.ts';

/**
 * Checks a folder against its list, a line or JSON line for each file.
 * @throws StorageError when a file is not what was downloaded.
 */
export async function verifyAll(dir: string, context: Context): Promise<void> {
  const spinner = await startSpinner('Checking', context.terminal, context.json);
  const batch = new Batch(context, { aside: (write) => spinner.aside(write) });
  let files = 0;
  try {
    for await (const file of verifyFolder(dir, context.signal)) {
      files++;
      spinner.text(`Checking  ${counted(files, 'file')}`);
      await batch.report({ json: file, ...inWords(file, context) });
    }
  } finally {
    spinner.stop();
  }
  if (batch.failed > 0) {
    throw new StorageError(
      'STORAGE_CORRUPT',
      `${batch.failed} of ${counted(files, 'file')} failed the check; each is reported above.`,
      { hint: 'Fetch them again: `esign envelopes download ID --dir DIR --force`.' },
    );
  }
  if (!context.json) context.notice(`${counted(files, 'file')} checked; all are as downloaded.`);
}

function inWords(file: FileResult, { terminal }: Context): Pick<Outcome, 'text' | 'failure'> {
  if (file.error === null) return { text: renderFile(file, terminal) };
  return { failure: `${terminal.styleErr('red', '✗')} ${safeLine(file.error.message)}\n` };
}
