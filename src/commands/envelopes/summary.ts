import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { durationFlag } from '../../cli/flags.ts';
import { writeNewFile } from '../../cli/new-file.ts';
import { selectionFlags, selectionOf } from '../../cli/selecting.ts';
import { summarize } from '../../envelopes/summary.ts';
import { writeJson } from '../../output/json.ts';
import { summaryPage } from '../../output/summary-page.ts';
import { renderSummary } from '../../output/summary-view.ts';

const SOON_MS = 3 * 86_400_000;

export default class EnvelopesSummary extends EsignCommand {
  static override summary = 'Show where all envelopes stand: counts, waits, what expires, what is stuck.';
  static override examples = [
    '<%= config.bin %> envelopes summary',
    '<%= config.bin %> envelopes summary --since 30d --html report.html',
    '<%= config.bin %> envelopes summary --template tmpl_lease --json | jq .byStatus',
  ];
  static override flags = {
    ...selectionFlags,
    soon: durationFlag({ description: 'what counts as expiring soon (default 3d)', helpValue: '3d' }),
    most: Flags.integer({ description: 'how many of each kind are named', default: 5, min: 0, max: 1_000 }),
    html: Flags.string({ description: 'also write it as a page to this file', helpValue: 'FILE' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(EnvelopesSummary);
    const around = this.surroundings(flags);
    const now = around.clock.now();
    const options = { now, soonMs: flags.soon ?? SOON_MS, most: flags.most, signal: around.signal };
    const summary = await summarize(await around.client(), selectionOf(flags), options);
    if (flags.html !== undefined) await writeNewFile(flags.html, summaryPage(summary, now), true, around);

    if (around.json) return writeJson(summary, around.terminal);
    await around.terminal.out(renderSummary(summary, around.terminal, now));
  }
}
