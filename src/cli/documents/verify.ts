import { type VerifiedFile, verifyPapers } from '../../documents/archive/verify.ts';
import { counted } from '../../kernel/duration.ts';
import { StorageError } from '../../kernel/errors.ts';
import { startSpinner } from '../../output/spinner.ts';
import { safeLine } from '../../output/text.ts';
import { Batch, type Outcome } from '../batch.ts';
import type { Context } from '../context.ts';
import { type JudgeFlags, sealJudge } from './seals.ts';
import { renderVerified } from './view.ts';

/**
 * Checks folders and files against their lists, and the seals of the PDFs: a line or JSON line for each file.
 * @throws StorageError when a file must not be believed.
 */
export async function verifyAll(
  places: readonly string[],
  flags: JudgeFlags,
  context: Context,
): Promise<void> {
  const judge = await sealJudge(flags, context);
  const spinner = await startSpinner('Checking', context.terminal, context.json);
  const batch = new Batch(context, { aside: (write) => spinner.aside(write) });
  let files = 0;
  try {
    for await (const file of verifyPapers(places, { judge, signal: context.signal })) {
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

function inWords(file: VerifiedFile, { terminal }: Context): Pick<Outcome, 'text' | 'failure'> {
  if (file.error === null) return { text: renderVerified(file, terminal) };
  return { failure: `${terminal.styleErr('red', '✗')} ${safeLine(file.error.message)}\n` };
}
