import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { selectionFlags, selectionOf } from '../../cli/envelopes/select-flags.ts';
import { summaryPage } from '../../cli/envelopes/summary-page.ts';
import { renderSummary } from '../../cli/envelopes/summary-view.ts';
import { durationFlag } from '../../cli/flags.ts';
import { writeNewFile } from '../../cli/new-file.ts';
import { namedIn, summarize } from '../../envelopes/summary.ts';
import { writeJson } from '../../output/json.ts';
import { writeIds } from '../../output/list.ts';

export default class EnvelopesSummary extends EsignCommand {
  static override summary = 'Show where all envelopes stand: counts, waits, what expires, what is stuck.';
  static override examples = [
    '<%= config.bin %> envelopes summary',
    '<%= config.bin %> envelopes summary --since 30d --html report.html',
    '<%= config.bin %> envelopes summary --template tmpl_lease --json | jq .byStatus',
  ];
  static override flags = {
    ...selectionFlags,
    quiet: Flags.boolean({
      char: 'q',
      description: 'print the ids of those that are named only',
      exclusive: ['json'],
    }),
    soon: durationFlag({ description: 'what counts as expiring soon (default 3d)', helpValue: '3d' }),
    most: Flags.integer({
      description: 'how many of each kind are named',
      helpValue: 'N',
      default: 5,
      min: 0,
      max: 1_000,
    }),
    html: Flags.string({ description: 'also write it as a page to this file', helpValue: 'FILE' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(EnvelopesSummary);
    const context = this.context(flags);
    const now = () => context.now();
    const options = { now, soonMs: flags.soon, most: flags.most, signal: context.signal };
    const summary = await summarize(await context.client(), selectionOf(flags), options);
    if (flags.html !== undefined) await writeNewFile(flags.html, summaryPage(summary, now()), true, context);

    if (flags.quiet) return writeIds(namedIn(summary), context.terminal);
    if (context.json) return writeJson(summary, context.terminal);
    await context.terminal.out(renderSummary(summary, context.terminal, now()));
  }
}
