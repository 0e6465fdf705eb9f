import type { Client } from '../../../api/client.ts';
import type { Envelope } from '../../../api/schemas.ts';
import type { Context } from '../../../cli/context.ts';
import { isSelecting, type SelectionFlagValues } from '../../../cli/selection/flags.ts';
import { readNamedOrSelected, refuseMixture } from '../../../cli/selection/named-or-selected.ts';
import { WATCH_PACE } from '../../../envelopes/defaults.ts';
import { notToWatch } from '../../../envelopes/left-out.ts';
import type { Wakeup } from '../../../envelopes/watch/wakeups.ts';
import {
  isOver,
  type StatusChange,
  type WatchEvent,
  watchEnvelopes,
} from '../../../envelopes/watch/watch.ts';
import { counted } from '../../../kernel/duration.ts';
import { messageOf, PartialError, sentenceOf, UnexpectedStatusError } from '../../../kernel/errors.ts';
import { eventsDir } from '../../../kernel/files/paths.ts';
import { preferLowMemory } from '../../../kernel/process/v8-flags.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import { followEvents } from '../../../webhooks/journal/event-journal.ts';
import { followSuccessor, successorOf } from '../replace/successor.ts';
import { openShow, type WatchShow } from './display.ts';
import { Notifier, ReachedCommand } from './hooks.ts';
import { deadlineAfter, WATCH_PACING } from './limits.ts';

export interface WatchFlags extends SelectionFlagValues {
  until?: string[] | undefined;
  timeout?: number | undefined;
  interval?: number | undefined;
  exec?: string | undefined;
  notify: boolean;
}

const NAMED = 10;

/**
 * Follows the envelopes that are named, or all that have a status, and shows each change as it happens. With a status and
 * no --until it goes on for those that may come.
 * @throws UnexpectedStatusError when one ended in another status, WaitTimeoutError when the time was up, the error of the
 * service when it knows none of them, PartialError when it does not know some.
 */
export async function watchToTheEnd(
  words: readonly string[],
  flags: WatchFlags,
  context: Context,
): Promise<void> {
  preferLowMemory();
  const { until = ['COMPLETED'], interval } = flags;
  const discover = discoveredStatuses(flags);
  const subject = await readSubject(words, flags, context);
  if (subject === undefined) return;
  const ids = subject;
  const client = await context.session.client(WATCH_PACING);
  const deadline = deadlineAfter(flags.timeout, context.session.words);
  const show = await openShow({ ids, until, title: titleOf(ids, discover, until) }, context);
  const over = new AbortController();
  const watching = new Watching(show, { until, single: ids.length === 1, client }, flags, context);
  try {
    const events = watchEnvelopes(client, ids, {
      until,
      ...(interval === undefined ? WATCH_PACE : { intervalMs: interval }),
      discover,
      endless: discover !== undefined && flags.until === undefined,
      wakeups: wakeups(context, over.signal),
      signal: AbortSignal.any([context.interrupt.signal, deadline.signal]),
    });
    for await (const event of events) await watching.take(event);
  } finally {
    over.abort();
    deadline.stop();
    await watching.finish();
    await show.close();
  }
  await watching.judge();
}

/** The envelopes that a listener on this machine hears of. */
async function* wakeups(
  { session: { clock } }: Context,
  signal: AbortSignal,
): AsyncGenerator<Wakeup, void, undefined> {
  for await (const { envelopeId } of followEvents(eventsDir(), { clock, signal }))
    if (envelopeId !== null) yield { envelopeId };
}

/** The statuses whose envelopes are watched, also those that come later: for --status alone. */
function discoveredStatuses({ status, ...flags }: WatchFlags): string[] | undefined {
  return isSelecting(flags) ? undefined : status;
}

/** Undefined for a selection without envelopes. */
async function readSubject(
  words: readonly string[],
  flags: WatchFlags,
  context: Context,
): Promise<string[] | undefined> {
  refuseMixture(words, flags);
  if (discoveredStatuses(flags) !== undefined) return [];
  const { ids, selected } = await readNamedOrSelected(words, flags, notToWatch, context);
  return selected?.size === 0 ? undefined : ids.ids;
}

function titleOf(
  ids: readonly string[],
  discover: readonly string[] | undefined,
  until: readonly string[],
): string {
  if (discover !== undefined) return `Watching what is ${discover.join(' or ')}`;
  return `Waiting for ${until.join(' or ')}${ids.length > 1 ? `, ${counted(ids.length, 'envelope')}` : ''}`;
}

/** What is done about the events of one watch, and what is made of them at its end. */
class Watching {
  readonly #show: WatchShow;
  readonly #until: readonly string[];
  readonly #command: ReachedCommand | undefined;
  readonly #notifier: Notifier | undefined;
  readonly #last = new Map<string, string>();
  readonly #otherwise: { id: string; status: string; envelope: Envelope }[] = [];
  readonly #client: Client;
  readonly #context: Context;
  readonly #gone: Error[] = [];
  readonly #single: boolean;
  #count = 0;
  #commands = { failed: 0, runs: 0 };

  constructor(
    show: WatchShow,
    wanted: { until: readonly string[]; single: boolean; client: Client },
    flags: WatchFlags,
    context: Context,
  ) {
    this.#show = show;
    this.#until = wanted.until;
    this.#single = wanted.single;
    this.#client = wanted.client;
    this.#context = context;
    const { terminal } = context;
    const { signal } = context.interrupt;
    const options = { signal, showsOutput: terminal.outIsTty && !context.terminal.json };
    if (flags.exec !== undefined)
      this.#command = new ReachedCommand(flags.exec, (text) => show.say(text), options);
    if (flags.notify) this.#notifier = new Notifier(context);
  }

  async take(event: WatchEvent): Promise<void> {
    switch (event.type) {
      case 'change':
        return this.#change(event.change);
      case 'gone':
        this.#gone.push(event.error);
        if (!this.#last.has(event.id)) this.#count++;
        // Of a single one the reporter says it.
        if (this.#single) return;
        return this.#show.gone(event.id, this.#last.get(event.id) ?? null, event.error);
      case 'outage':
        if (event.failures === 1) await this.#show.away(`${sentenceOf(event.error)} Watching goes on.`);
        return;
      case 'recovered':
        return this.#show.away(undefined);
      case 'deaf':
        return this.#show.say(
          `Events of this machine can't be followed: ${messageOf(event.error)}. Polling goes on.`,
        );
    }
  }

  async #change(change: StatusChange): Promise<void> {
    const { envelopeId: id, from, to } = change;
    if (from === null) this.#count++;
    await this.#show.change(change);
    const over = isOver({ id, status: to }, this.#until);
    if (!over) return void this.#last.set(id, to);
    this.#last.delete(id);
    this.#notifier?.ended(change);
    if (this.#until.includes(to)) this.#command?.reached(change);
    else this.#otherwise.push({ id, status: to, envelope: change.envelope });
  }

  /** What stands in the place of those that ended otherwise; undefined where nothing is known of any. */
  async #successors(): Promise<string | undefined> {
    const means = { client: this.#client, looks: this.#single };
    const lines: string[] = [];
    for (const { id, envelope } of this.#otherwise.slice(0, NAMED)) {
      const made = await successorOf(envelope, means, this.#context);
      if (made) lines.push(followSuccessor(id, made));
    }
    return lines.length > 0 ? lines.join('\n') : undefined;
  }

  /** Waits for the commands that run. */
  async finish(): Promise<void> {
    this.#notifier?.finish();
    if (this.#command) this.#commands = await this.#command.finish();
  }

  async judge(): Promise<void> {
    const count = this.#count;
    const { failed, runs } = this.#commands;
    const [first] = this.#otherwise;
    if (first !== undefined)
      throw unexpectedStatus(this.#otherwise, this.#until, (await this.#successors()) ?? seeWhy(first.id));
    const [gone] = this.#gone;
    if (gone !== undefined && this.#gone.length === count) throw gone;
    if (gone !== undefined)
      throw new PartialError(
        `${this.#gone.length} of ${counted(count, 'envelope')} unknown to the service; each is reported above.`,
      );
    if (failed > 0)
      throw new PartialError(`The command failed ${failed} of ${runs} times; each is reported above.`);
  }
}

function seeWhy(id: string): string {
  return `See why: \`${command('envelopes', 'get', id)}\`.`;
}

function unexpectedStatus(
  ended: readonly { id: string; status: string }[],
  until: readonly string[],
  hint: string,
): UnexpectedStatusError {
  const list = ended.slice(0, NAMED).map(({ id, status }) => `${id} is ${status}`);
  const more = ended.length > NAMED ? `, and ${counted(ended.length - NAMED, 'other')}` : '';
  return new UnexpectedStatusError(
    `Ended in another status than ${until.join(' or ')}: ${list.join(', ')}${more}.`,
    { hint },
  );
}
