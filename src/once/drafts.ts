import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/resource-types.ts';
import { EsignError } from '../kernel/errors.ts';
import { isNotFound, isRefusedByState } from '../kernel/request-failures.ts';
import { isVoid } from '../kernel/statuses.ts';
import { cancelEnvelope, sendOrCancel } from './actions/send-or-cancel.ts';
import { byPrecedence, type PrecedenceFacts, precedenceFactsOf } from './precedence.ts';
import type { RequestHost } from './request-host.ts';

/** The envelope that counts for a request, and the others. Every machine chooses the same one. */
export interface ChosenEnvelope {
  counts: Envelope;
  /** Drafts that are canceled once the one that counts has been sent. */
  drafts: readonly string[];
  /** Others that emailed their signers. */
  sent: readonly PrecedenceFacts[];
}

/**
 * Chooses the envelope that counts: one that was sent, or else the oldest draft. A single draft needs no request. Returns undefined if
 * all were canceled before anyone was emailed.
 */
export async function chooseEnvelope(
  host: Pick<RequestHost, 'client' | 'ask'>,
  draft: string,
  others: readonly PrecedenceFacts[],
): Promise<ChosenEnvelope | undefined> {
  const own: PrecedenceFacts = { id: draft, status: 'DRAFT' };
  if (others.length === 0) return { counts: own, drafts: [], sent: [] };
  const listed = others.some(({ id }) => id === draft) ? others : [own, ...others];
  // The list may show an old status.
  const fresh = await Promise.all(listed.map((facts) => readFresh(host, facts)));
  const [counts, ...rest] = fresh.filter((one) => !isVoid(one)).toSorted(byPrecedence);
  if (counts === undefined) return undefined;
  const isDraft = ({ status }: PrecedenceFacts) => status === 'DRAFT';
  return {
    counts,
    drafts: rest.filter(isDraft).map(({ id }) => id),
    sent: rest.filter((one) => !isDraft(one)),
  };
}

/** A service may not find a new envelope for a while; then the list counts. */
async function readFresh(
  host: Pick<RequestHost, 'client' | 'ask'>,
  facts: PrecedenceFacts,
): Promise<Envelope> {
  try {
    return await host.ask((signal) => host.client.envelopes.get(facts.id, signal));
  } catch (error) {
    if (isNotFound(error)) return facts;
    throw error;
  }
}

/**
 * Sends a draft unless it has been sent already. Returns the envelope, sent or canceled as a draft, and whether this process may have
 * sent it.
 */
export async function sendDraft(
  host: Pick<RequestHost, 'client' | 'ask'>,
  id: string,
): Promise<{ envelope: Envelope; isOurs: boolean }> {
  const { client } = host;
  try {
    const envelope = await host.ask(async (signal) => {
      // Any 2xx means that the draft was sent, regardless of its body.
      const send = async () => (await client.envelopes.send(id, signal)) ?? { id, status: 'SENT' };
      const happened = ({ status }: Envelope) => status !== 'DRAFT';
      return (await sendOrCancel(client, id, { send, happened }, signal)).envelope;
    });
    // The response may still show the draft's status.
    const isBehind = envelope.status === undefined || envelope.status === 'DRAFT';
    return { envelope: isBehind ? { ...envelope, status: 'SENT' } : envelope, isOurs: true };
  } catch (error) {
    if (!isRefusedByState(error)) throw error;
    const envelope = await host.ask((signal) => client.envelopes.get(id, signal));
    // It was refused for another reason than that it has been sent or canceled already.
    if (envelope.status === 'DRAFT') throw error;
    return { envelope, isOurs: false };
  }
}

/**
 * Cancels a draft that doesn't count, unless it has been sent. Returns the envelope, which is canceled in most cases.
 * @throws UnknownOutcomeError if the response is lost and the outcome isn't known.
 */
export async function cancelDraft(
  client: Client,
  id: string,
  reason: string,
  signal: AbortSignal | undefined,
): Promise<Envelope> {
  const before = await client.envelopes.get(id, signal);
  if (before.status !== 'DRAFT') return before;
  try {
    await cancelEnvelope(client, id, reason, signal);
  } catch (error) {
    if (!isRefusedByState(error)) throw error;
  }
  return client.envelopes.get(id, signal);
}

/** Cancels the other drafts of a request. One that can't be canceled is reported. */
export async function tidy(
  host: RequestHost,
  number: number,
  drafts: readonly string[],
  counts: PrecedenceFacts,
): Promise<void> {
  for (const id of drafts) {
    const reason = `another draft of the same request; ${counts.id} counts`;
    const after = await host
      .ask((signal) => cancelDraft(host.client, id, reason, signal))
      .catch((error: unknown) => {
        if (!(error instanceof EsignError)) throw error;
        return { id, status: 'DRAFT' };
      });
    if (!isVoid(after)) await host.second(number, precedenceFactsOf(after), counts);
  }
}
