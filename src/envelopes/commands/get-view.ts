import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/resource-types.ts';
import type { Context } from '../../cli/session/context.ts';
import { renderDetails, renderEnvelope } from './envelope-text.ts';
import { lastReminderReader, successorOf } from './get-facts.ts';
import { cancelReader, type historyReader, renderHistory } from './get-history.ts';

interface ViewOptions {
  client: Client;
  /** Returns the webhooks received on this machine, for --history. */
  historyOf?: ReturnType<typeof historyReader> | undefined;
}

/** Returns a function that renders an envelope for people. */
export function envelopeView(
  { client, historyOf }: ViewOptions,
  context: Context,
): (envelope: Envelope) => Promise<string> {
  const { terminal, session } = context;
  const lastReminder = lastReminderReader(context);
  const cancelsOf = cancelReader(context);
  return async (envelope) => {
    const successor = await successorOf(envelope, client, context);
    const reminder = await lastReminder(envelope);
    const now = session.now();
    const text = renderEnvelope(envelope, terminal, now, { successor, reminder });
    const received = await historyOf?.(envelope.id);
    if (received === undefined) return text;
    const history = { received, cancels: await cancelsOf(envelope) };
    return `${text}\n${renderDetails(envelope, terminal, now)}${renderHistory(envelope, history, terminal, now)}`;
  };
}
