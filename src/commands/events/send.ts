import type { Context } from '../../cli/context.ts';
import { NetworkError, PartialError, UsageError } from '../../kernel/errors.ts';
import { eventsDir } from '../../kernel/files/paths.ts';
import {
  type Forwardable,
  type ForwardResult,
  forwardOnce,
  storedDelivery,
} from '../../webhooks/forward/send.ts';
import { readEvents } from '../../webhooks/journal/event-journal.ts';
import type { EventRecord } from '../../webhooks/journal/record.ts';
import { forwardLine } from './delivery-view.ts';

const DEFAULT_TIMEOUT_MS = 30_000;

/** `localhost:3000/path`: a host with a port, and no scheme. */
const WITHOUT_SCHEME = /^(?:[\w.-]+|\[[\da-f:]+\]):\d+(?:[/?]|$)|^localhost(?:[/?]|$)/i;

/** The address deliveries are sent to; without a scheme it is http. @throws UsageError when it is none. */
export function targetUrl(text: string, flag = '--to'): string {
  const url = WITHOUT_SCHEME.test(text) ? `http://${text}` : text;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new UsageError(`${flag} "${text}" is not an http or https address.`, {
    hint: 'Write it like http://localhost:3000/webhooks.',
  });
}

/**
 * Sends deliveries to an address, one after the other, and shows what came of each.
 * @throws NetworkError when the only one was not taken, PartialError when some were not.
 */
export async function sendAll(
  deliveries: readonly Forwardable[],
  url: string,
  context: Context,
): Promise<void> {
  const { signal } = context.interrupt;
  const { clock } = context.session;
  const failed: ForwardResult[] = [];
  for (const delivery of deliveries) {
    const options = { attempt: 1, timeoutMs: DEFAULT_TIMEOUT_MS, clock, signal };
    const waiting = `Sent; waiting for the answer of ${new URL(url).host}`;
    const result = await context.terminal.waiting(waiting, () => forwardOnce(delivery, url, options));
    if (signal.aborted && result.status === null) result.error = 'stopped before the answer came';
    if (result.error !== null) failed.push(result);
    await context.terminal.out(forwardLine(result, context.terminal, context.terminal.json));
    signal.throwIfAborted();
  }
  const [first] = failed;
  if (first === undefined) return;
  if (deliveries.length === 1)
    throw new NetworkError('NETWORK', `${first.url} did not accept it: ${first.error ?? ''}.`, {
      maybeReceived: true,
      hint: hintFor(first.status),
    });
  throw new PartialError(`${failed.length} of ${deliveries.length} were not taken; each is reported above.`);
}

function hintFor(status: number | null): string {
  if (status === 401 || status === 403)
    return 'The receiver refused the signature. Give its secret with --secret-file or ESIGN_WEBHOOK_SECRET.';
  return status === null
    ? 'Check that something listens at that address, then run it again.'
    : 'Check the log of the receiver, then run it again.';
}

/** A record of the journal as it can be sent again. @throws UsageError when only a part of it was kept. */
export function forwardable(record: EventRecord): Forwardable {
  const delivery = storedDelivery(record);
  if (delivery.raw.byteLength !== record.bytes)
    throw new UsageError(
      `${record.deliveryId} was refused, and only its first bytes were kept; it can't be sent again.`,
      { hint: 'Have it delivered again, or make one up: `esign events trigger`.' },
    );
  return delivery;
}

/** The record of a delivery id, or of the start of one. @throws UsageError when there is none. */
export async function findEvent(id: string): Promise<EventRecord> {
  if (id !== '')
    for await (const record of readEvents(eventsDir()))
      if (record.deliveryId.startsWith(id) || record.id === id) return record;
  throw new UsageError(`There is no delivery ${id} in the journal of this machine.`, {
    hint: 'See `esign events list`.',
  });
}
