import type { Envelope } from '../api/resource-types.ts';
import { UnknownOutcomeError } from '../kernel/errors.ts';
import { isAmbiguous } from '../kernel/request-failures.ts';
import { hasEnded, isVoid } from '../kernel/statuses.ts';
import { forEachOf } from '../kernel/streams.ts';
import { cancelDraft, chooseEnvelope, sendDraft, tidy } from './drafts.ts';
import type { FoundEnvelope } from './look.ts';
import { canceledDraftError, envelopeEndedError, requestIdUsedError, usedForOtherError } from './refusals.ts';
import type { RequestHost } from './request-host.ts';
import { reserveDrafts } from './reserve-drafts.ts';
import { ReadingStart, settle } from './settle.ts';

/*
 * One request for signatures emails once, although the API has no idempotency key and machines share nothing but the service. A draft
 * emails nobody, and the service refuses to send a given envelope twice. So the only decision that could email twice is which envelope
 * of a request is sent, and every machine takes it from the service's list by the same rule: look, reserve, settle, send, tidy.
 */

/** The envelopes that the requests already have. */
export interface KnownEnvelopes {
  /** When the list was read, in ms by this machine's clock. */
  at: number;
  found: ReadonlyMap<number, FoundEnvelope>;
  /** The deciding reading begins at this time or later, because the list may not show yet what an earlier process created. */
  notBefore: number;
}

/** How often requests are looked for again, because a draft was canceled or a response was lost in the meantime. */
const MAX_ROUNDS = 5;

/**
 * Handles requests until each has a result. A process that was killed begins here again; its memory only saves requests.
 * @throws what ends the work on all requests; UnknownOutcomeError if a response was lost again and again.
 */
export async function processRequests(host: RequestHost, look: () => Promise<KnownEnvelopes>): Promise<void> {
  /** Drafts that someone else canceled before they were sent. */
  const canceled = new Map<number, string>();
  for (let round = 1; !host.isFinished(); round++) {
    if (round > MAX_ROUNDS) throw new UnknownOutcomeError('The outcome of some requests is unknown.');
    const looked = await look();
    const start = new ReadingStart(host.client, looked.at);
    await takeFound(host, looked.found, start, round === 1);
    await refuseCanceled(host, canceled);
    await reserveDrafts(host, start);
    const { others, isProof } = await settle(host, start, looked.notBefore);
    await forEachOf(host.drafts(), host.parallel, async ([draft, number]) => {
      const chosen = isProof ? draft : await host.decideAlone(number);
      if (await sendChosen(host, number, chosen, others.get(number) ?? [])) return;
      canceled.set(number, chosen);
      host.released(number);
    });
  }
}

/** Records the results of requests whose envelope was sent, and takes over drafts. */
function takeFound(
  host: RequestHost,
  found: KnownEnvelopes['found'],
  start: ReadingStart,
  isFirst: boolean,
): Promise<void> {
  return forEachOf(found, host.parallel, async ([number, one]) => {
    if (!host.isOpen(number)) return;
    const { request, envelope, changed } = one;
    if (one.usedFor !== undefined)
      return host.finished(number, { kind: 'failed', error: requestIdUsedError(one) });
    if (envelope.status !== 'DRAFT') return takeSent(host, number, one);
    // A draft with an earlier wording would send that. Only the first look replaces it, so that two machines with different wordings
    // don't do so in turns.
    if (isFirst && changed.length > 0) {
      const reason = `the request ${request.requestId} was corrected`;
      const after = await host.ask((signal) => cancelDraft(host.client, envelope.id, reason, signal));
      if (isVoid(after)) return host.released(number);
      return host.finished(number, {
        kind: 'existing',
        envelope: after,
        changed,
      });
    }
    start.add(envelope, false);
    await host.reserved(number, envelope, isOwn(host, number, one));
  });
}

async function takeSent(host: RequestHost, number: number, one: FoundEnvelope): Promise<void> {
  const { request, envelope, changed } = one;
  await tidy(host, number, one.drafts, envelope);
  for (const other of one.sent) await host.second(number, other, envelope);
  if (isOwn(host, number, one)) await host.finished(number, { kind: 'done', envelope });
  else if (request.identity === 'given' && hasEnded(envelope))
    await host.finished(number, { kind: 'failed', error: envelopeEndedError(one), envelopeId: envelope.id });
  else await host.finished(number, { kind: 'existing', envelope, changed });
}

function isOwn(host: RequestHost, number: number, { envelope, run }: FoundEnvelope): boolean {
  return host.isOwn(number, envelope.id) || (run !== undefined && run === host.run);
}

/** A request whose draft was canceled, and which has no other envelope: a person canceled it. It isn't created again. */
async function refuseCanceled(host: RequestHost, canceled: Map<number, string>): Promise<void> {
  for (const [number, envelopeId] of canceled)
    if (host.isOpen(number) && host.draftOf(number) === undefined)
      await host.finished(number, { kind: 'failed', error: canceledDraftError(envelopeId), envelopeId });
  canceled.clear();
}

/**
 * Sends the envelope that counts for a request, and cancels its other drafts. Returns false if the draft was canceled before it was
 * sent. After a lost response, the request stays open, and the next round finds the outcome.
 */
async function sendChosen(
  host: RequestHost,
  number: number,
  draft: string,
  others: Parameters<typeof chooseEnvelope>[2],
): Promise<boolean> {
  try {
    const choice = await chooseEnvelope(host, draft, others);
    if (choice === undefined) return false;
    if (choice.counts.id !== draft && !(await host.hasSameContent(number, choice.counts)))
      return await refuseUsedId(host, number, draft, choice.counts);
    const isUnsent = choice.counts.status === 'DRAFT' && host.sends;
    const sent = isUnsent ? await sendDraft(host, choice.counts.id) : undefined;
    const counts = sent?.envelope ?? choice.counts;
    if (isVoid(counts)) return false;
    if (!host.leavesDrafts) await tidy(host, number, choice.drafts, counts);
    for (const other of choice.sent) await host.second(number, other, counts);
    const drafts = host.leavesDrafts ? choice.drafts : undefined;
    const result = { envelope: counts, changed: [], drafts };
    const kind = sent?.isOurs || host.isOwn(number, counts.id) ? 'done' : 'existing';
    await host.finished(number, { kind, ...result });
  } catch (error) {
    if (isAmbiguous(error)) return true;
    await host.finished(number, { kind: 'failed', error: host.requireOwnError(error), envelopeId: draft });
  }
  return true;
}

/** Another machine used the request ID for something else at the same moment, and its envelope counts. Ours is canceled. */
async function refuseUsedId(
  host: RequestHost,
  number: number,
  draft: string,
  counts: Envelope,
): Promise<boolean> {
  if (host.isOwn(number, draft)) await tidy(host, number, [draft], counts);
  await host.finished(number, { kind: 'failed', error: usedForOtherError(counts) });
  return true;
}
