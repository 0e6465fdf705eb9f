import { Batch, type ItemResult } from '../../../cli/batch.ts';
import type { Context } from '../../../cli/context.ts';
import type { CommandTerminal } from '../../../cli/terminal.ts';
import { MANIFEST_NAME } from '../../../documents/archive/manifest.ts';
import { type VerifiedFile, verifyDocuments } from '../../../documents/archive/verify.ts';
import { counted } from '../../../kernel/duration.ts';
import { StorageError } from '../../../kernel/errors.ts';
import { startSpinner } from '../../../output/spinner.ts';
import { safeLine } from '../../../output/text.ts';
import { renderVerified } from '../download/view.ts';
import { knownSigners } from '../signers.ts';

export interface VerifyFlags {
  trust?: string | undefined;
  'sealed-by'?: string[] | undefined;
  'require-seal': boolean;
  'require-list': boolean;
}

/**
 * Checks folders and files against their lists, and checks the seals of the PDFs. Prints a line or JSON line for each file.
 * @throws StorageError if a file fails.
 */
export async function verifyAll(
  places: readonly string[],
  flags: VerifyFlags,
  context: Context,
): Promise<void> {
  const options = {
    known: await knownSigners(flags, context.session),
    requireSeal: flags['require-seal'],
    requireList: flags['require-list'],
    signal: context.interrupt.signal,
  };
  const spinner = await startSpinner('Checking', context.terminal, context.terminal.json);
  const batch = new Batch(context, { aside: (write) => spinner.aside(write) });
  const counts = { files: 0, unlisted: 0 };
  try {
    for await (const file of verifyDocuments(places, options)) {
      counts.files++;
      if (file.list === 'unlisted') counts.unlisted++;
      spinner.text(`Checking  ${counted(counts.files, 'file')}`);
      await batch.report({ json: file, ...inWords(file, context.terminal) });
    }
  } finally {
    spinner.stop();
  }
  if (batch.failed > 0) {
    throw new StorageError(
      'STORAGE_CORRUPT',
      `${batch.failed} of ${counted(counts.files, 'file')} failed the check. The errors are shown above.`,
      { hint: 'Download them again: `esign envelopes download ID --dir DIR --force`.' },
    );
  }
  if (!context.terminal.json) context.terminal.notice(summary(counts));
}

/** Returns a summary. Files that are in no list don't count as downloaded, because anyone may have put them there. */
function summary({ files, unlisted }: { files: number; unlisted: number }): string {
  const checked = `${counted(files, 'file')} checked`;
  if (unlisted === 0) return `${checked}; ${files === 1 ? 'it matches' : 'all match'} ${MANIFEST_NAME}.`;
  const inNone = `${unlisted === 1 ? '1 is' : `${unlisted} are`} not in any ${MANIFEST_NAME}`;
  const listed = files - unlisted;
  if (listed === 0) return `${checked}; ${inNone}.`;
  return `${checked}; ${listed === 1 ? '1 matches' : `${listed} match`} ${MANIFEST_NAME}, ${inNone}.`;
}

function inWords(file: VerifiedFile, terminal: CommandTerminal): Pick<ItemResult, 'text' | 'failure'> {
  if (file.error === null) return { text: renderVerified(file, terminal) };
  return { failure: `${terminal.styleErr('red', '✗')} ${safeLine(file.error.message)}\n` };
}
