import { Batch, type ItemResult } from '../../cli/batch.ts';
import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, optionalArg, repeatedTextFlag, textFlag } from '../../cli/flags.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted } from '../../kernel/duration.ts';
import { StorageError } from '../../kernel/errors.ts';
import { startSpinner } from '../../output/spinner.ts';
import { errColumns } from '../../output/terminal.ts';
import { paragraph, safeLine } from '../../output/text.ts';
import { MANIFEST_NAME } from '../archive/manifest.ts';
import { type VerifiedFile, verifyDocuments } from '../archive/verify.ts';
import { hasSealedPart } from '../seal/sealed-part.ts';
import { renderVerified } from './download-lines.ts';
import { ListedFiles } from './listed-files.ts';
import { readKnownSigners } from './seal-pins.ts';

export default class DocumentsVerify extends EsignCommand {
  static override summary = 'Verify downloaded documents: checksums (SHA256SUMS) and PDF seals.';
  static override description =
    'Works offline. In a folder, checks every listed file and every PDF, including subfolders. Each file must match every SHA256SUMS that lists it, from its own folder upward. Files that are not listed are counted. Exits with 9 if a file is missing or changed, if something was added after it was sealed, or if the seal is not the one pinned for this profile. A file to which something was added is accepted if --sealed-part saves what was sealed; the rest is never checked. Once a seal is pinned, signed documents and certificates without a seal also fail. Use --require-seal in scripts, because a seal can be removed. The unsigned original (*.document.pdf in the list) needs no seal.';
  static override examples = [
    '<%= config.bin %> documents verify archive --require-seal',
    '<%= config.bin %> documents verify lease.pdf --require-seal --trust ca.pem',
    "<%= config.bin %> documents verify archive --json | jq -r 'select(.error != null) | .path'",
    '<%= config.bin %> documents verify',
  ];
  static override strict = false;
  static override args = {
    path: optionalArg('folders or files (default: this folder)'),
  };
  static override flags = {
    'require-seal': booleanFlag('reject files that are not sealed PDFs'),
    trust: textFlag('FILE', 'PEM file with accepted certificate authorities; other seals fail'),
    'sealed-by': repeatedTextFlag(
      'FINGERPRINT',
      'SHA-256 of an accepted seal certificate; other seals fail; can be repeated',
    ),
    'sealed-part': textFlag(
      'DIR',
      'folder for the sealed part of each file to which data was added later (NAME.sealed.pdf)',
    ),
  };

  async run(): Promise<void> {
    const { argv, flags, context, terminal } = await this.start(DocumentsVerify);
    const places = argv.length === 0 ? ['.'] : argv.map(String);
    const options = {
      known: await readKnownSigners(flags, context.session),
      requireSeal: flags['require-seal'],
      sealedPartDir: flags['sealed-part'],
      signal: context.interrupt.signal,
    };
    const spinner = await startSpinner('Checking', terminal, terminal.json);
    const batch = new Batch(context, { aside: (write) => spinner.aside(write) });
    const counts = { files: 0, unlisted: 0, extended: 0 };
    const failed: VerifiedFile[] = [];
    const listed = new ListedFiles(terminal);
    try {
      for await (const file of verifyDocuments(places, options)) {
        counts.files++;
        if (file.list === 'unlisted') counts.unlisted++;
        if (hasSealedPart(file.seal)) counts.extended++;
        if (file.error !== null) failed.push(file);
        spinner.text(`Checking  ${counted(counts.files, 'file')}`);
        const { text, failure } = inWords(file, terminal);
        await batch.report({ json: file, text: listed.take(text, file.seal), failure });
      }
    } finally {
      spinner.stop();
    }
    await listed.end();
    if (batch.failed > 0) {
      throw new StorageError(
        'STORAGE_CORRUPT',
        `${batch.failed} of ${counted(counts.files, 'file')} failed the check. The errors are shown above.`,
        { hint: hintFor(failed) },
      );
    }
    if (terminal.json) return;
    terminal.notice(`${summary(counts)} ${listed.sealersInWords()}`.trim());
    if (counts.extended > 0)
      terminal.notice(
        `Only the first bytes of ${counted(counts.extended, 'file')} are sealed; the sealed parts were saved. What was added later is not checked.`,
      );
  }
}

/** Only files that differ from their list are not what was downloaded; other files failed as they are, and may be a stranger's. */
function hintFor(failed: readonly VerifiedFile[]): string {
  if (failed.some(({ list }) => list === 'changed' || list === 'missing'))
    return `To replace files that are missing or differ from ${MANIFEST_NAME}, run \`esign envelopes download ID --dir DIR --force\`.`;
  if (failed.every(({ error }) => error?.code === 'SEAL_EXTENDED'))
    return 'Rely only on what was sealed. `--sealed-part DIR` saves it as NAME.sealed.pdf.';
  return "Don't rely on these files. If someone sent them to you, ask for the originals, or get the documents from the envelope: `esign envelopes download ID --dir DIR`.";
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

/** The mark in front of a file, and a space. */
const MARK_WIDTH = 2;

function inWords(file: VerifiedFile, terminal: CommandTerminal): Pick<ItemResult, 'text' | 'failure'> {
  const text = renderVerified(file, terminal);
  if (file.error === null) return { text };
  const failure = paragraph(safeLine(file.error.message), errColumns() - MARK_WIDTH);
  const lines = failure.replaceAll('\n', `\n${' '.repeat(MARK_WIDTH)}`);
  return {
    failure: `${terminal.styleErr('red', '✗')} ${lines}\n`,
    // In a pipe, every file has its line.
    ...(terminal.outIsTty || file.path === null ? {} : { text }),
  };
}
