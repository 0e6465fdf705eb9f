import { join } from 'node:path';
import type { Envelope } from '../../../api/schemas.ts';
import type { Context } from '../../../cli/context.ts';
import { stateDir } from '../../../kernel/files/paths.ts';
import type { WebhookHistoryEntry } from '../../../webhooks/journal/history.ts';
import { renderHistory } from './history-view.ts';

/** The webhooks received for envelopes on this machine. The journal is read once, when it is needed. */
export class Histories {
  readonly #ids: ReadonlySet<string>;
  #read: Promise<ReadonlyMap<string, WebhookHistoryEntry[]>> | undefined;
  readonly #shown = new Map<string, WebhookHistoryEntry[]>();

  constructor(ids: readonly string[]) {
    this.#ids = new Set(ids);
  }

  /** Returns the envelope with its history. */
  async addedTo(envelope: Envelope): Promise<Envelope> {
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
    return readHistories(join(stateDir(), 'events'), this.#ids);
  }
}
