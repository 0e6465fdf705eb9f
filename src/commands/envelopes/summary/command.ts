import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { booleanFlag, durationFlag } from '../../../cli/flags.ts';
import { selectionFlags, selectionOf } from '../../../cli/selection/flags.ts';
import { select } from '../../../cli/selection/search.ts';
import { counted, durationInWords, durationText, grouped } from '../../../kernel/duration.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import { writeJson } from '../../../output/json.ts';
import { writeIds } from '../../../output/list.ts';
import { statusColor } from '../../../output/status.ts';
import { indented, renderPairs } from '../../../output/table.ts';
import type { Terminal } from '../../../output/terminal.ts';
import { safeLine, truncate } from '../../../output/text.ts';
import { relativeTime } from '../../../output/time.ts';
import {
  DECLINED_WITHIN_MS,
  FORGOTTEN_AFTER_MS,
  SOON_MS,
  UNOPENED_AFTER_MS,
} from '../../../statistics/defaults.ts';
import {
  type HighlightedEnvelope,
  type NeedsAttention,
  namedIn,
  type StatisticsSummary,
  summarize,
} from '../../../statistics/summary.ts';

export default class EnvelopesSummary extends EsignCommand {
  static override summary = 'Summarize all envelopes: counts, waiting times, and what needs attention.';
  static override examples = [
    '<%= config.bin %> envelopes summary',
    '<%= config.bin %> envelopes summary --template tmpl_lease --json | jq .byStatus',
    '<%= config.bin %> envelopes summary --run last',
  ];
  static override flags = {
    ...selectionFlags,
    quiet: booleanFlag('print only the IDs of the listed envelopes', { char: 'q', exclusive: ['json'] }),
    soon: durationFlag(
      '3d',
      `list envelopes that expire within this time (default ${durationText(SOON_MS)})`,
    ),
    most: Flags.integer({
      description: 'maximum number of envelopes listed in each section',
      helpValue: 'N',
      default: 5,
      min: 0,
      max: 1_000,
    }),
  };

  async run(): Promise<void> {
    const { flags, context } = await this.start(EnvelopesSummary);
    const now = () => context.session.now();
    const options = { now, soonMs: flags.soon, maxListed: flags.most, signal: context.interrupt.signal };
    const { envelopes } = await select(await selectionOf(flags, context), context);
    const summary = await summarize(await context.session.client(), envelopes, options);
    const out = context.terminal.hidingSecrets();
    if (flags.quiet) return writeIds(namedIn(summary), out);
    if (context.terminal.json) return writeJson(summary, out);
    await out.out(renderSummary(summary, context.terminal, now()));
  }
}

const BAR = 24;

/** Renders the summary: bars by status, then what needs attention. In a pipe: status and count, tab-separated. */
export function renderSummary(summary: StatisticsSummary, terminal: Terminal, now: number): string {
  const statuses = Object.entries(summary.byStatus).sort(([, a], [, b]) => b - a);
  if (!terminal.outIsTty)
    return statuses.map(([status, count]) => `${safeLine(status)}\t${count}\n`).join('');
  const most = Math.max(1, ...statuses.map(([, count]) => count));
  const bars = statuses.map(([status, count]): [string, string] => {
    const bar = '█'.repeat(Math.max(1, Math.round((count / most) * BAR)));
    const color = statusColor(status);
    return [safeLine(status), `${color ? terminal.style(color, bar) : bar} ${grouped(count)}`];
  });
  const { count, medianMs, p90Ms } = summary.completion;
  const times =
    medianMs === null || p90Ms === null
      ? ''
      : `\n${indented(`${counted(count, 'envelope')} completed: 50% within ${durationInWords(medianMs)}, 90% within ${durationInWords(p90Ms)}`, 2, terminal)}\n`;
  const parts = [
    `${terminal.style('bold', counted(summary.total, 'envelope'))}\n${renderPairs(bars, terminal, '  ')}`,
    needsAttention(summary.needsAttention, terminal, now),
    standouts('Waiting longest', summary.waitingLongest, terminal, now),
    standouts('Stuck: the next signer was never notified', summary.stuck, terminal, now),
  ];
  return `${parts.filter((part) => part !== '').join('\n')}${times}`;
}

const MAX_WIDTH = 80;

/** Returns the width of the rest of a line after an ID. */
function roomFor(id: string, terminal: Terminal): number {
  return Math.max(20, Math.min(MAX_WIDTH, terminal.columns - id.length - 2));
}

/** Renders the envelopes that need attention: their number, a command for one, and the first few. */
function needsAttention(attention: NeedsAttention, terminal: Terminal, now: number): string {
  const { declined, expiringSoon, neverOpened, forgottenDrafts } = attention;
  const kinds = [
    [`declined in the last ${durationInWords(DECLINED_WITHIN_MS)}`, declined, 'replace', 'by'],
    ['expiring soon', expiringSoon, 'remind', 'for'],
    [`not opened for ${durationInWords(UNOPENED_AFTER_MS)}`, neverOpened, 'remind', 'for'],
    [`in draft for more than ${durationInWords(FORGOTTEN_AFTER_MS)}`, forgottenDrafts, 'send', 'for'],
  ] as const;
  const parts = kinds
    .filter(([, { count }]) => count > 0)
    .map(([title, { count, envelopes }, verb, word]) => {
      const next = terminal.style('dim', command('envelopes', verb, 'ID'));
      const head = `  ${indented(`${grouped(count)} ${title}: ${next}`, 2, terminal)}\n`;
      return `${head}${rowsOf(envelopes, word, terminal, now, '    ')}`;
    });
  return parts.length === 0 ? '' : `${terminal.style('bold', 'Needs attention')}\n${parts.join('')}`;
}

function standouts(
  title: string,
  list: readonly HighlightedEnvelope[],
  terminal: Terminal,
  now: number,
): string {
  if (list.length === 0) return '';
  return `${terminal.style('bold', title)}\n${rowsOf(list, 'for', terminal, now, '  ')}`;
}

function rowsOf(
  list: readonly HighlightedEnvelope[],
  word: string,
  terminal: Terminal,
  now: number,
  indent: string,
): string {
  const rows = list.map(({ id, at, waitingFor, subject }): [string, string] => {
    const whom = waitingFor.length > 0 ? `, ${word} ${waitingFor.join(', ')}` : '';
    const room = roomFor(id, terminal) - indent.length;
    return [safeLine(id), truncate(safeLine(`${relativeTime(at, now)}${whom}  ${subject ?? ''}`), room)];
  });
  return renderPairs(rows, terminal, indent);
}
