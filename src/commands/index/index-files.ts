import { rm } from 'node:fs/promises';
import { indexPathOf } from '../../cli/boot/observations.ts';
import type { Context } from '../../cli/context.ts';
import { IndexProgressLine, unusableReason } from '../../cli/selection/index-or-service.ts';
import type { Session } from '../../cli/session.ts';
import { IndexFile, indexFiles } from '../../envelope-index/index-file.ts';
import { indexFolder } from '../../envelope-index/index-writer.ts';
import { canChange, isPartly } from '../../envelope-index/snapshot.ts';
import { counted, grouped } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import { bytesInWords } from '../../output/bytes.ts';
import { writeJson } from '../../output/json.ts';
import { renderPairs } from '../../output/table.ts';
import { exactTime } from '../../output/time.ts';

/** Runs `index show`: shows the contents of the current profile's index, without using the network. */
export async function showIndex(context: Context): Promise<void> {
  const path = indexPathOf(await context.session.settings());
  const { terminal } = context;
  if (path === undefined) {
    if (context.terminal.json) return writeJson({ kept: false }, terminal);
    return terminal.out("The index is disabled by the profile's --no-index setting or by ESIGN_NO_INDEX.\n");
  }
  const { known, completeness, size, damaged } = await new IndexFile(path).read();
  const all = [...known.values()];
  const facts = {
    kept: true,
    file: path,
    envelopes: all.length,
    canChange: all.filter(canChange).length,
    unread: all.filter(isPartly).length,
    bytes: size,
    damagedLines: damaged,
    completeAt: completeness ? new Date(completeness.complete).toISOString() : null,
  };
  if (context.terminal.json) return writeJson(facts, terminal);
  const { completeAt } = facts;
  const unread = facts.unread > 0 ? [['Not read yet', grouped(facts.unread)] as const] : [];
  const pairs = [
    ['Envelopes', grouped(facts.envelopes)],
    ['Can change', `${grouped(facts.canChange)}, each rechecked before it is shown`],
    ...unread,
    ['All known', completeAt === null ? 'not yet; run `esign index refresh`' : exactTime(completeAt)],
    ['File', `${path} (${bytesInWords(size)})`],
  ] as const;
  await terminal.out(renderPairs(pairs, terminal));
}

/** Runs `index refresh`: reads new envelopes and those that may have changed. */
export async function refreshIndex(context: Context): Promise<void> {
  const index = await context.session.index();
  if (index !== undefined) {
    const line = new IndexProgressLine(context);
    try {
      await index.refreshAll({
        signal: context.interrupt.signal,
        onProgress: (progress) => line.show(progress),
      });
    } catch (error) {
      const why = unusableReason(error);
      if (why === undefined) throw error;
      throw new UsageError(`${why}.`, {
        cause: error,
        hint: 'Free up disk space, or set ESIGN_STATE_DIR to a writable folder. Searches also work without the index.',
      });
    } finally {
      await line.stop();
    }
  }
  await showIndex(context);
}

/** Removes the index of the current profile and address, because its envelopes no longer exist. */
export async function removeIndex(session: Session): Promise<void> {
  const path = indexPathOf(await session.settings());
  if (path !== undefined) await rm(path, { force: true });
}

/** Runs `index clear`: deletes the index of the current profile or of all profiles. */
export async function clearIndex(
  flags: { all: boolean; 'dry-run'?: boolean | undefined },
  context: Context,
): Promise<void> {
  const { profileName } = await context.session.settings();
  const files = await indexFiles(
    indexFolder(stateDir()),
    flags.all ? 'all' : { profile: profileName?.value },
  );
  const bytes = files.reduce((sum, one) => sum + one.bytes, 0);
  // Undefined without the flag, so JSON would leave it out.
  const dryRun = flags['dry-run'] === true;
  if (!dryRun) for (const { path } of files) await rm(path, { force: true });
  if (context.terminal.json)
    return writeJson({ dryRun, files: files.map(({ path }) => path), bytes }, context.terminal);
  const what = `${counted(files.length, 'file')}, ${bytesInWords(bytes)}`;
  await context.terminal.out(`${dryRun ? 'Would remove' : 'Removed'} ${what}.\n`);
}
