import type { Envelope } from '../../api/schemas.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted } from '../../kernel/duration.ts';
import { eventsDir } from '../../kernel/files/paths.ts';
import { indented } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { inColumns, safeLine } from '../../output/text.ts';
import { exactTime, relativeTime } from '../../output/time.ts';
import type { WebhookHistoryEntry } from '../../webhooks/journal/history.ts';
import { timelineOf } from '../evidence/timeline.ts';

/** Returns a function that returns the webhooks received for an envelope on this machine. They are read once, when it is called. */
export function historyReader(
  ids: readonly string[],
  terminal: CommandTerminal,
): (id: string) => Promise<WebhookHistoryEntry[]> {
  let reading: Promise<ReadonlyMap<string, WebhookHistoryEntry[]>> | undefined;
  const readAll = async () => {
    const { readHistories } = await import('../../webhooks/journal/history.ts');
    return readHistories(eventsDir(), new Set(ids), (message) => terminal.notice(message));
  };
  return async (id) => {
    reading ??= readAll();
    return (await reading).get(id) ?? [];
  };
}

/** The history of an envelope, from its own dates and the webhooks received on this machine. */
export function renderHistory(
  envelope: Envelope,
  received: readonly WebhookHistoryEntry[],
  terminal: Terminal,
  now: number,
): string {
  const webhooks = received.map((one) => ({ ...one, happenedAt: one.at, duplicate: false }));
  const cells = timelineOf(envelope, webhooks, []).map(({ at, what, who, source, verified }) => [
    safeLine(exactTime(at)),
    safeLine(relativeTime(at, now)),
    safeLine(what),
    safeLine(who ?? ''),
    source === 'webhook' ? `webhook${verified ? '' : ', not verified'}` : '',
  ]);
  const title = terminal.style('bold', 'History');
  const webhookCount =
    received.length === 0
      ? 'no webhooks received on this machine; `esign listen` records them'
      : `${counted(received.length, 'webhook')} received on this machine`;
  const lines = inColumns(cells).map((line) => `  ${indented(line, 4, terminal)}\n`);
  return `\n${title}  ${indented(webhookCount, 9, terminal)}\n${lines.join('')}`;
}
