import { rm } from 'node:fs/promises';
import { indexPathOf } from '../../cli/boot/observations.ts';
import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, dryRunFlag } from '../../cli/flags.ts';
import type { Session } from '../../cli/session.ts';
import { indexFiles } from '../../envelope-index/index-file.ts';
import { indexFolder } from '../../envelope-index/index-writer.ts';
import { counted } from '../../kernel/duration.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import { bytesInWords } from '../../output/bytes.ts';
import { writeJson } from '../../output/json.ts';

export default class IndexClear extends EsignCommand {
  static override summary = 'Delete the local index. The next search rebuilds it.';
  static override examples = [
    '<%= config.bin %> index clear',
    '<%= config.bin %> index clear --all --dry-run',
    '<%= config.bin %> index clear --all --json',
  ];
  static override flags = {
    all: booleanFlag('delete the indexes for all profiles, including removed ones', { default: false }),
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { flags, session, terminal } = await this.start(IndexClear);
    const { profileName } = await session.settings();
    const files = await indexFiles(
      indexFolder(stateDir()),
      flags.all ? 'all' : { profile: profileName?.value },
    );
    const bytes = files.reduce((sum, one) => sum + one.bytes, 0);
    // Undefined without the flag, so JSON would leave it out.
    const dryRun = flags['dry-run'] === true;
    if (!dryRun) for (const { path } of files) await rm(path, { force: true });
    if (terminal.json) return writeJson({ dryRun, files: files.map(({ path }) => path), bytes }, terminal);
    const what = `${counted(files.length, 'file')}, ${bytesInWords(bytes)}`;
    await terminal.out(`${dryRun ? 'Would remove' : 'Removed'} ${what}.\n`);
  }
}

/** Removes the index of the current profile and address, because its envelopes no longer exist. */
export async function removeIndex(session: Session): Promise<void> {
  const path = indexPathOf(await session.settings());
  if (path !== undefined) await rm(path, { force: true });
}
