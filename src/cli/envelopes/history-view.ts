import { counted } from '../../kernel/duration.ts';
import { indented } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { inColumns, safeLine } from '../../output/text.ts';
import { exactTime, relativeTime } from '../../output/time.ts';
import type { HistoryEntry } from '../../webhooks/journal/history.ts';

/** What was received for an envelope, below its own view: when, what, by whom. */
export function renderHistory(entries: readonly HistoryEntry[], terminal: Terminal, now: number): string {
  const title = terminal.style('bold', 'History');
  if (entries.length === 0)
    return `\n${title}  nothing received on this machine; webhooks are recorded by esign listen\n`;
  const cells = entries.map(({ at, event, signer, verified }) => [
    safeLine(exactTime(at)),
    safeLine(relativeTime(at, now)),
    safeLine(event?.replace(/^envelope\./, '') ?? 'unknown event'),
    safeLine(signer ?? ''),
    verified ? '' : 'not verified',
  ]);
  const lines = inColumns(cells);
  return `\n${title}  ${counted(entries.length, 'event')} received on this machine\n${lines.map((line) => `  ${indented(line, 4, terminal)}\n`).join('')}`;
}
