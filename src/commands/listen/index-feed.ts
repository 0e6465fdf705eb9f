import { indexScopeOf } from '../../cli/boot/seen.ts';
import type { Context } from '../../cli/context.ts';
import { Feed } from '../../envelope-index/feed.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import type { Delivery } from '../../webhooks/receive/delivery.ts';

/** How long webhooks are collected before they are written together, in ms. */
const FLUSH_DELAY_MS = 500;

/** Updates the profile's index with verified webhooks, so that searches read those envelopes again. */
export class ListenIndex {
  readonly #feed: Feed | undefined;
  #timer: NodeJS.Timeout | undefined;

  private constructor(feed: Feed | undefined) {
    this.#feed = feed;
  }

  /** Creates the updater. Without a profile, the listener works but has no index to update. */
  static async of(context: Context): Promise<ListenIndex> {
    const settings = await context.session.settings().catch(() => undefined);
    const scope = settings && indexScopeOf(settings);
    if (scope === undefined) return new ListenIndex(undefined);
    return new ListenIndex(new Feed(stateDir(), scope));
  }

  take({ verified, duplicate, facts }: Delivery): void {
    if (this.#feed === undefined || !verified || duplicate || !facts?.envelopeId) return;
    this.#feed.touched(facts.envelopeId, facts.status ?? '');
    this.#timer ??= setTimeout(() => void this.write(), FLUSH_DELAY_MS).unref();
  }

  /** Writes the collected updates. */
  async write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#feed?.settle();
  }
}
