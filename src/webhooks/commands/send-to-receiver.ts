import { writeDryRun } from '../../cli/dry-run.ts';
import type { Context } from '../../cli/session/context.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { NetworkError, NotFoundError, PartialError, UsageError } from '../../kernel/errors.ts';
import { eventsDir } from '../../kernel/files/paths.ts';
import { connectionReason } from '../../kernel/network/unreachable.ts';
import { safeLine } from '../../output/text.ts';
import { type Forwardable, type ForwardResult, forwardOnce, shownUrl } from '../forward/send.ts';
import { scanEvents } from '../journal/event-journal.ts';
import { deliveryFromEventRecord, type EventRecord } from '../journal/record.ts';
import { FORWARD_TIMEOUT_MS } from '../listen-defaults.ts';
import { isAccepted } from '../receive/delivery.ts';
import { sentDeliveryLine } from './delivery-text.ts';
import { shortDeliveryId } from './event-table.ts';

/** A host with a port but no scheme, such as `localhost:3000/path`. */
const WITHOUT_SCHEME = /^(?:[\w.-]+|\[[\da-f:]+\]):\d+(?:[/?]|$)|^localhost(?:[/?]|$)/i;

/** Parses a receiver's address. Without a scheme, http is used. @throws UsageError if it is not valid */
export function targetUrl(text: string, flag = '--to'): string {
  const url = WITHOUT_SCHEME.test(text) ? `http://${text}` : text;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new UsageError(`Invalid value for ${flag}: "${text}". It must be an http or https URL.`, {
    hint: 'Example: http://localhost:3000/webhooks',
  });
}

/** Shows the deliveries that would be sent to an address. */
export function showDeliveries(
  deliveries: readonly Forwardable[],
  url: string,
  terminal: CommandTerminal,
): Promise<void> {
  const byId = new Map(deliveries.map((delivery) => [delivery.deliveryId, delivery]));
  return writeDryRun([...byId.keys()], 'send', terminal, (id) => {
    const { event, envelopeId } = byId.get(id) ?? {};
    return safeLine(
      `${event ?? 'a delivery'} for ${envelopeId ?? 'an envelope'} (${id}) to ${shownUrl(url)}`,
    );
  });
}

/**
 * Sends deliveries to an address, one after another, and shows the results.
 * @throws NetworkError if there is only one and it was not accepted, PartialError if some were not.
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
    const options = { attempt: 1, timeoutMs: FORWARD_TIMEOUT_MS, clock, signal };
    const waiting = `Sent; waiting for a response from ${new URL(url).host}`;
    const result = await context.terminal.waiting(waiting, () => forwardOnce(delivery, url, options));
    if (signal.aborted && result.status === null) result.error = 'stopped before the response';
    if (result.error !== null) failed.push(result);
    await context.terminal.out(sentDeliveryLine(result, context.terminal, context.terminal.json));
    signal.throwIfAborted();
  }
  const [first] = failed;
  if (first === undefined) return;
  if (deliveries.length === 1)
    throw new NetworkError(
      'NETWORK',
      `${first.url} did not accept the webhook: ${connectionReason(first.error ?? '')}.`,
      { maybeReceived: true, outcome: 'unknown', hint: hintFor(first.status) },
    );
  throw new PartialError(
    `${failed.length} of ${deliveries.length} were not accepted. The errors are shown above.`,
  );
}

function hintFor(status: number | null): string {
  if (status === 401 || status === 403)
    return 'The receiver refused the signature. Set its secret with --secret-file FILE, or set ESIGN_WEBHOOK_SECRET.';
  return status === null
    ? 'Check that your application is listening at that address, then run the command again.'
    : "Check the receiver's log, then run the command again.";
}

/** Returns a journal record as a delivery to send. @throws UsageError if it was refused, because it may be forged */
export function toForwardable(record: EventRecord): Forwardable {
  if (!isAccepted(record))
    throw new UsageError(`${record.deliveryId} was refused, so it can't be resent: ${record.reason}.`, {
      hint: 'To send a test webhook instead, run `esign events trigger`.',
    });
  return deliveryFromEventRecord(record);
}

type SearchTerminal = Pick<CommandTerminal, 'notice'>;

/**
 * Returns the records with these delivery IDs, in their order. An ID can be short, as `events list` shows it, or that of the event (`id` in
 * its JSON).
 * @throws NotFoundError if one doesn't exist, UsageError if several have the same short ID.
 */
export async function findEvents(ids: readonly string[], terminal: SearchTerminal): Promise<EventRecord[]> {
  const records = new Map(ids.map((id): [string, EventRecord[]] => [id, []]));
  const take = (record: EventRecord) => {
    const { deliveryId, id: eventId, duplicate } = record;
    for (const id of [deliveryId, shortDeliveryId(deliveryId)]) records.get(id)?.push(record);
    // A repetition has the ID of the first delivery, which stands for both. A refused delivery has none.
    if (!duplicate) records.get(eventId)?.push(record);
  };
  await scanEvents(eventsDir(), 0, take, (message) => terminal.notice(message));
  return ids.map((id) => onlyOne(id, records.get(id) ?? []));
}

function onlyOne(id: string, [first, second]: readonly EventRecord[]): EventRecord {
  if (first === undefined)
    throw new NotFoundError(`Delivery ${id} was not found in the journal on this machine.`, {
      hint: 'List the received webhooks with `esign events list`.',
    });
  if (second !== undefined)
    throw new UsageError(`Several deliveries begin with ${id}.`, {
      hint: 'Use the whole ID. `esign events list -q` prints it.',
    });
  return first;
}
