import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { durationFlag } from '../../../cli/flags.ts';
import { selectionFlags, selectionOf } from '../../../cli/selection/flags.ts';
import { select } from '../../../cli/selection/select.ts';
import { writeJson } from '../../../output/json.ts';
import { writeIds } from '../../../output/list.ts';
import { namedIn, summarize } from '../../../statistics/summary.ts';
import { renderSummary } from './view.ts';

export default class EnvelopesSummary extends EsignCommand {
  static override summary = 'Summarize all envelopes: counts, waiting times, and what needs attention.';
  static override examples = [
    '<%= config.bin %> envelopes summary',
    '<%= config.bin %> envelopes summary --template tmpl_lease --json | jq .byStatus',
    '<%= config.bin %> envelopes summary --run last',
  ];
  static override flags = {
    ...selectionFlags,
    quiet: Flags.boolean({
      char: 'q',
      description: 'print only the IDs of the listed envelopes',
      exclusive: ['json'],
    }),
    soon: durationFlag({
      description: 'list envelopes that expire within this time (default 3d)',
      helpValue: '3d',
    }),
    most: Flags.integer({
      description: 'maximum number of envelopes listed in each section',
      helpValue: 'N',
      default: 5,
      min: 0,
      max: 1_000,
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(EnvelopesSummary);
    const context = this.context(flags);
    const now = () => context.session.now();
    const options = { now, soonMs: flags.soon, maxListed: flags.most, signal: context.interrupt.signal };
    const { envelopes } = await select(await selectionOf(flags, context), {}, context);
    const summary = await summarize(await context.session.client(), envelopes, options);
    const out = context.terminal.hidingSecrets();
    if (flags.quiet) return writeIds(namedIn(summary), out);
    if (context.terminal.json) return writeJson(summary, out);
    await out.out(renderSummary(summary, context.terminal, now()));
  }
}
