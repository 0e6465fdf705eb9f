import type { Envelope } from '../../api/schemas.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted } from '../../kernel/duration.ts';
import { eventsDir } from '../../kernel/files/paths.ts';
import { indented } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { inColumns, safeLine } from '../../output/text.ts';
import { exactTime, relativeTime } from '../../output/time.ts';
import type { WebhookHistoryEntry } from '../../webhooks/journal/history.ts';
import { type TimelineEntry, timelineOf } from '../evidence/timeline.ts';

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

/** How much later than its event a webhook may be dated, in ms. */
const SAME_MOMENT_MS = 60_000;

/** The history of an envelope, from its own dates and the webhooks received on this machine. */
export function renderHistory(
  envelope: Envelope,
  received: readonly WebhookHistoryEntry[],
  terminal: Terminal,
  now: number,
): string {
  const webhooks = received.map((one) => ({ ...one, happenedAt: one.at, duplicate: false }));
  const moments = timelineOf(envelope, webhooks, []);
  const own = moments.filter(({ source }) => source === 'service');
  const cells = moments
    .filter((one) => !own.some((other) => isSame(other, one)))
    .map((one) => [
      safeLine(exactTime(one.at)),
      safeLine(relativeTime(one.at, now)),
      safeLine(one.what),
      safeLine(one.who ?? ''),
      webhookNote([one, ...moments.filter((other) => isSame(one, other))]),
    ]);
  const title = terminal.style('bold', 'History');
  const webhookCount =
    received.length === 0
      ? 'no webhooks received on this machine; `esign listen` records them'
      : `${counted(received.length, 'webhook')} received on this machine`;
  const lines = inColumns(cells).map((line) => `  ${indented(line, 4, terminal)}\n`);
  return `\n${title}  ${indented(webhookCount, 9, terminal)}\n${lines.join('')}`;
}

/** Returns whether a webhook reports what the envelope's own dates show. */
function isSame(own: TimelineEntry, webhook: TimelineEntry): boolean {
  if (own.source !== 'service' || webhook.source !== 'webhook') return false;
  const isSamePerson = own.who === null || webhook.who === null || own.who === webhook.who;
  const isSameEvent = own.what.split(':')[0] === webhook.what && isSamePerson;
  return isSameEvent && Math.abs(Date.parse(own.at) - Date.parse(webhook.at)) < SAME_MOMENT_MS;
}

function webhookNote(moments: readonly TimelineEntry[]): string {
  const webhooks = moments.filter(({ source }) => source === 'webhook');
  if (webhooks.length === 0) return '';
  return webhooks.some(({ verified }) => verified) ? 'webhook' : 'webhook, not verified';
}
