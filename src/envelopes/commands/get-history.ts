import type { Envelope } from '../../api/resource-types.ts';
import type { Context } from '../../cli/session/context.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted } from '../../kernel/duration.ts';
import { eventsDir, findStateDir } from '../../kernel/files/paths.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { logFolder } from '../../log/log-folder.ts';
import { readCancels } from '../../log/read-log.ts';
import { type LogEntry, logEntryOf } from '../../log/shown-entry.ts';
import { indented } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { inColumns, safeLine } from '../../output/text.ts';
import { exactTime, relativeTime } from '../../output/time.ts';
import type { WebhookHistory } from '../../webhooks/journal/history.ts';
import { timelineOf } from '../evidence/timeline.ts';

/** Returns a function that returns the webhooks received for an envelope on this machine. They are read once, when it is called. */
export function historyReader(
  ids: readonly string[],
  terminal: CommandTerminal,
): (id: string) => Promise<WebhookHistory> {
  let reading: Promise<ReadonlyMap<string, WebhookHistory>> | undefined;
  const readAll = async () => {
    const { readHistories } = await import('../../webhooks/journal/history.ts');
    return readHistories(eventsDir(), new Set(ids), (message) => terminal.notice(message));
  };
  return async (id) => {
    reading ??= readAll();
    return (await reading).get(id) ?? { accepted: [], refused: 0 };
  };
}

/** Returns a function that returns why this machine canceled an envelope. The log is read once, if needed. */
export function cancelReader({ session }: Context): (envelope: Envelope) => Promise<LogEntry[]> {
  let reading: Promise<LogEntry[]> | undefined;
  const readAll = async () => {
    const folder = findStateDir();
    if (folder === undefined) return [];
    const writes = await readCancels(logFolder(folder), await session.baseUrl()).catch(() => []);
    return writes.map(logEntryOf);
  };
  return async ({ id, status }) => {
    if (status !== 'CANCELLED') return [];
    reading ??= readAll();
    return (await reading).filter(({ envelopeIds }) => envelopeIds.includes(id));
  };
}

/** The history of an envelope, from its own dates, the webhooks received on this machine, and its log. */
export function renderHistory(
  envelope: Envelope,
  { received, cancels = [] }: { received: WebhookHistory; cancels?: readonly LogEntry[] },
  terminal: Terminal,
  now: number,
): string {
  const webhooks = received.accepted.map((one) => ({ ...one, happenedAt: one.at, duplicate: false }));
  const cells = timelineOf(envelope, webhooks, [], cancels).map(({ at, what, who, source, verified }) => [
    safeLine(exactTime(at)),
    safeLine(relativeTime(at, now)),
    safeLine(what),
    safeLine(who ?? ''),
    source === 'webhook' ? `webhook${verified ? '' : ', not verified'}` : '',
  ]);
  const title = terminal.style('bold', 'History');
  const lines = inColumns(cells).map((line) => `  ${indented(line, 4, terminal)}\n`);
  return `\n${title}  ${indented(webhookCount(received, envelope.id), 9, terminal)}\n${lines.join('')}`;
}

function webhookCount({ accepted, refused }: WebhookHistory, id: string): string {
  const some = `${counted(accepted.length, 'webhook')} received on this machine`;
  if (refused > 0) return `${some}, ${refused} refused: \`${command('events', 'list', id)}\` shows why`;
  return accepted.length > 0 ? some : 'no webhooks received on this machine; `esign listen` records them';
}
