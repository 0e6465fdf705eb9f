import { join } from 'node:path';
import type { Envelope } from '../../../api/schemas.ts';
import type { Context } from '../../../cli/context.ts';
import type { CommandTerminal } from '../../../cli/terminal.ts';
import { type TimelineEntry, timelineOf } from '../../../evidence/timeline.ts';
import { counted } from '../../../kernel/duration.ts';
import { stateDir } from '../../../kernel/files/paths.ts';
import { indented } from '../../../output/table.ts';
import type { Terminal } from '../../../output/terminal.ts';
import { inColumns, safeLine } from '../../../output/text.ts';
import { exactTime, relativeTime } from '../../../output/time.ts';
import type { WebhookHistoryEntry } from '../../../webhooks/journal/history.ts';

/** The webhooks received for envelopes on this machine. The journal is read once, when it is needed. */
export class Histories {
  readonly #ids: ReadonlySet<string>;
  readonly #terminal: CommandTerminal;
  #read: Promise<ReadonlyMap<string, WebhookHistoryEntry[]>> | undefined;
  readonly #shown = new Map<string, WebhookHistoryEntry[]>();

  constructor(ids: readonly string[], terminal: CommandTerminal) {
    this.#ids = new Set(ids);
    this.#terminal = terminal;
  }

  /** Returns the envelope with its history. */
  async withHistory(envelope: Envelope): Promise<Envelope> {
    this.#read ??= this.#readAll();
    const history = (await this.#read).get(envelope.id) ?? [];
    this.#shown.set(envelope.id, history);
    return { ...envelope, history };
  }

  /** Renders the history for the terminal. */
  render(envelope: Envelope, context: Context): string {
    return renderHistory(
      envelope,
      this.#shown.get(envelope.id) ?? [],
      context.terminal,
      context.session.now(),
    );
  }

  async #readAll(): Promise<ReadonlyMap<string, WebhookHistoryEntry[]>> {
    const { readHistories } = await import('../../../webhooks/journal/history.ts');
    return readHistories(join(stateDir(), 'events'), this.#ids, (message) => this.#terminal.notice(message));
  }
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
