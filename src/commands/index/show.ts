import { indexPathOf } from '../../cli/boot/observations.ts';
import { EsignCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { IndexFile } from '../../envelope-index/index-file.ts';
import { canChange, isPartlyKnown } from '../../envelope-index/snapshot.ts';
import { grouped } from '../../kernel/duration.ts';
import { bytesInWords } from '../../output/bytes.ts';
import { writeJson } from '../../output/json.ts';
import { renderPairs } from '../../output/table.ts';
import { exactTime } from '../../output/time.ts';

export default class IndexShow extends EsignCommand {
  static override summary = 'Show the local index: its size, location, and age.';
  static override examples = [
    '<%= config.bin %> index show',
    '<%= config.bin %> index show --json',
    '<%= config.bin %> index show --profile acme',
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(IndexShow);
    await showIndex(this.context(flags));
  }
}

/** Shows the contents of the current profile's index, without using the network. */
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
    unread: all.filter(isPartlyKnown).length,
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
