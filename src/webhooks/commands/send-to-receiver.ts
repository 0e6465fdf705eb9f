import { writeDryRun } from '../../cli/dry-run.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { NetworkError, NotFoundError, PartialError, UsageError } from '../../kernel/errors.ts';
import { eventsDir } from '../../kernel/files/paths.ts';
import { connectionReason } from '../../kernel/network/unreachable.ts';
import { safeLine } from '../../output/text.ts';
import type { Context } from '../../session/context.ts';
import {
  type Forwardable,
  type ForwardResult,
  forwardOnce,
  shownUrl,
  storedDelivery,
} from '../forward/send.ts';
import { scanEvents } from '../journal/event-journal.ts';
import type { EventRecord } from '../journal/record.ts';
import { FORWARD_TIMEOUT_MS } from '../listen-defaults.ts';
import { forwardLine } from './delivery-text.ts';

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
    await context.terminal.out(forwardLine(result, context.terminal, context.terminal.json));
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
export function forwardable(record: EventRecord): Forwardable {
  if (record.reason !== null)
    throw new UsageError(`${record.deliveryId} was refused, so it can't be resent: ${record.reason}.`, {
      hint: 'To send a test webhook instead, run `esign events trigger`.',
    });
  return storedDelivery(record);
}

type Notices = Pick<CommandTerminal, 'notice'>;

/** Returns the record with a delivery ID or the beginning of one. @throws NotFoundError if it doesn't exist, UsageError if several begin like this */
export async function findEvent(id: string, terminal: Notices): Promise<EventRecord> {
  return onlyMatch(id, await findMatches([id]), terminal);
}

/** Does the same for several IDs, in their order, and reads the journal once. @throws as `findEvent` does, for the first such ID */
export async function findEvents(ids: readonly string[], terminal: Notices): Promise<EventRecord[]> {
  const matches = await findMatches(ids);
  return ids.map((id) => onlyMatch(id, matches, terminal));
}

interface Matches {
  /** The records of each ID: the one with this ID first, and up to two that begin with it. */
  records: ReadonlyMap<string, readonly EventRecord[]>;
  damages: readonly string[];
}

async function findMatches(ids: readonly string[]): Promise<Matches> {
  const records = new Map(ids.map((id): [string, EventRecord[]] => [id, []]));
  // A record is looked up by its beginnings, because comparing it with each ID would take long.
  const lengths = new Set(ids.map((id) => id.length).filter((length) => length > 0));
  const damages: string[] = [];
  const take = (record: EventRecord) => {
    const { deliveryId } = record;
    for (const length of lengths) {
      const found = records.get(deliveryId.slice(0, length));
      if (length === deliveryId.length) found?.unshift(record);
      else if (length < deliveryId.length && found !== undefined && found.length < 2) found.push(record);
    }
  };
  await scanEvents(eventsDir(), 0, take, (message) => damages.push(message));
  return { records, damages };
}

function onlyMatch(id: string, { records, damages }: Matches, terminal: Notices): EventRecord {
  const [first, second] = records.get(id) ?? [];
  if (first === undefined) {
    for (const message of damages) terminal.notice(message);
    throw new NotFoundError(`Delivery ${id} was not found in the journal on this machine.`, {
      hint: 'List the received webhooks with `esign events list`.',
    });
  }
  if (first.deliveryId !== id && second !== undefined)
    throw new UsageError(
      `Several deliveries begin with ${id}, such as ${first.deliveryId} and ${second.deliveryId}.`,
      { hint: 'Use the whole ID. `esign events list -q` prints it.' },
    );
  return first;
}
