import type { Standout, Summary } from '../../envelopes/summary.ts';
import { counted, durationInWords, grouped } from '../../kernel/duration.ts';
import { statusColour } from '../../output/status.ts';
import { indented, renderPairs } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine, truncate } from '../../output/text.ts';
import { relativeTime } from '../../output/time.ts';

const BAR = 24;

/** The summary for people: bars by status, then what is worth a look. In a pipe: status and count, tab-separated. */
export function renderSummary(summary: Summary, terminal: Terminal, now: number): string {
  const statuses = Object.entries(summary.byStatus).sort(([, a], [, b]) => b - a);
  if (!terminal.outIsTty)
    return statuses.map(([status, count]) => `${safeLine(status)}\t${count}\n`).join('');
  const most = Math.max(1, ...statuses.map(([, count]) => count));
  const bars = statuses.map(([status, count]): [string, string] => {
    const bar = '█'.repeat(Math.max(1, Math.round((count / most) * BAR)));
    const colour = statusColour(status);
    return [safeLine(status), `${colour ? terminal.style(colour, bar) : bar} ${grouped(count)}`];
  });
  const { count, medianMs, p90Ms } = summary.completion;
  const times =
    medianMs === null || p90Ms === null
      ? ''
      : `\n${indented(`${counted(count, 'envelope')} completed: half within ${durationInWords(medianMs)}, nine of ten within ${durationInWords(p90Ms)}`, 2, terminal)}\n`;
  const parts = [
    `${terminal.style('bold', counted(summary.total, 'envelope'))}\n${renderPairs(bars, terminal, '  ')}`,
    standouts('Waiting longest', summary.waitingLongest, terminal, now),
    standouts('Expiring soon', summary.expiringSoon, terminal, now),
    standouts('Stuck: whose turn it is was never asked', summary.stuck, terminal, now),
  ];
  return `${parts.filter((part) => part !== '').join('\n')}${times}`;
}

const MOST = 80;

/** What is left of a line beside an id. */
function roomFor(id: string, terminal: Terminal): number {
  return Math.max(20, Math.min(MOST, terminal.columns - id.length - 4));
}

function standouts(title: string, list: readonly Standout[], terminal: Terminal, now: number): string {
  if (list.length === 0) return '';
  const rows = list.map(({ id, at, waitingFor, subject }): [string, string] => {
    const whom = waitingFor.length > 0 ? `, for ${waitingFor.join(', ')}` : '';
    return [
      safeLine(id),
      truncate(safeLine(`${relativeTime(at, now)}${whom}  ${subject ?? ''}`), roomFor(id, terminal)),
    ];
  });
  return `${terminal.style('bold', title)}\n${renderPairs(rows, terminal, '  ')}`;
}
