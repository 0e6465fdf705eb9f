import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/schemas.ts';
import { readIfExists } from '../../catalog/envelope-list.ts';
import type { OnSearchStart } from '../../catalog/find-by-request-id.ts';
import { RequestIdUsedError } from '../../kernel/errors.ts';
import { isRefusedByState } from '../../kernel/request-failures.ts';
import { isTerminal, isVoid } from '../../kernel/vocabulary.ts';
import type { WriteMemory } from '../../log/write-memory.ts';
import { createBody, type EnvelopeInput } from '../create.ts';
import { type Created, createEnvelope, type WebhookSecretSource } from '../create-once.ts';
import { byPrecedence } from '../precedence.ts';
import { isSameEnvelope } from '../same-content.ts';
import { type ActionResult, cancelEnvelope, readQuietly, sendEnvelope } from '../write-outcome.ts';
import { replacementId, replacementsOf } from './find-replacement.ts';
import {
  alreadyReplacedError,
  notPossible,
  type ReplacementPlan,
  type ReplaceRequest,
  requireUnsigned,
} from './plan-replacement.ts';

/*
 * The API can't change an envelope. Instead, a draft of the new one is created, which emails nobody; the old one is canceled;
 * and the draft is sent. If this is interrupted, the same command finds the draft and continues.
 */

export type ReplaceEvent =
  /** A step was done, or had already been done (`by: 'lookup'`). */
  | { type: 'made' | 'cancelled' | 'sent'; envelope: Envelope; by: Created['by'] }
  /** Another machine replaced the same envelope at the same time. Its envelope is kept; this run's draft was canceled. */
  | { type: 'superseded'; envelope: Envelope; ownId: string };

export interface ReplaceResult {
  old: Envelope;
  new: Envelope;
}

export interface ReplaceContext {
  client: Client;
  memory: WriteMemory;
  secret?: WebhookSecretSource | undefined;
  signal?: AbortSignal | undefined;
  searching?: OnSearchStart | undefined;
}

/**
 * Runs the remaining steps. It may be interrupted between any two of them.
 * @throws UnknownOutcomeError if a response was lost and the outcome could not be determined.
 */
export async function* executeReplacement(
  plan: ReplacementPlan,
  request: ReplaceRequest,
  means: ReplaceContext,
): AsyncGenerator<ReplaceEvent, ReplaceResult, undefined> {
  const { client, signal } = means;
  let { old, made } = plan;
  if (made === undefined) {
    const created = await createReplacementDraft(plan.wanted, old, means);
    // Before anything else can fail: its webhook secret is linked to it.
    yield { type: 'made', ...created };
    made = await readIfIncomplete(client, created.envelope, signal);
  }
  if (plan.steps.includes('cancel')) {
    signal?.throwIfAborted();
    const cancelled = await cancelOld(client, made, request, signal);
    old = cancelled.envelope;
    yield { type: 'cancelled', ...cancelled };
  }
  if (plan.steps.includes('send')) {
    signal?.throwIfAborted();
    const kept = await preferredTo(made, old, client, signal);
    if (kept) {
      yield { type: 'superseded', envelope: kept, ownId: made.id };
      made = kept;
      if (!isSameEnvelope(made, plan.wanted)) throw alreadyReplacedError(old, made);
    }
    signal?.throwIfAborted();
    const sent = await sendNew(client, made.id, signal);
    made = sent.envelope;
    yield { type: 'sent', ...sent };
  }
  return { old, new: made };
}

/**
 * Returns the envelope to keep instead of the draft, after canceling the draft: another machine may have replaced the same
 * envelope at the same time. Every machine prefers the same one, and the service refuses to send it twice, so the only
 * remaining risk is the delay of the list.
 */
async function preferredTo(
  draft: Envelope,
  old: Envelope,
  client: Client,
  signal?: AbortSignal,
): Promise<Envelope | undefined> {
  const others = (await replacementsOf(client, old, { signal })).filter(({ id }) => id !== draft.id);
  for (const { id } of others.toSorted(byPrecedence)) {
    const other = await readIfExists(client, id, signal);
    if (other === undefined || isVoid(other) || byPrecedence(draft, other) < 0) continue;
    if ((await client.envelopes.get(draft.id, signal)).status !== 'DRAFT') return undefined;
    await cancelEnvelope(client, draft.id, `${old.id} was replaced by ${id}`, signal);
    return other;
  }
  return undefined;
}

async function createReplacementDraft(
  input: EnvelopeInput,
  old: Envelope,
  means: ReplaceContext,
): Promise<Created> {
  const { client, memory, secret, signal, searching } = means;
  // An earlier draft that was canceled emailed nobody, so it doesn't count.
  const options = { memory, rerun: false, ignoresVoid: true, secret, signal, searching };
  const created = await createEnvelope(client, createBody(input, replacementId(old.id)), options).catch(
    async (error: unknown) => {
      if (!(error instanceof RequestIdUsedError)) throw error;
      // Another process may have replaced it with other signers in the meantime.
      const [other] = await replacementsOf(client, old, { signal });
      throw other === undefined ? error : alreadyReplacedError(old, other);
    },
  );
  // The request ID stands for template and signers; the other process may have set other texts.
  if (
    created.by === 'earlier' &&
    !isSameEnvelope(await readIfIncomplete(client, created.envelope, signal), input)
  )
    throw alreadyReplacedError(old, created.envelope);
  return created;
}

/** Cancels the old envelope, unless it has ended. Someone may have signed since it was last read. */
async function cancelOld(
  client: Client,
  made: Envelope,
  request: ReplaceRequest,
  signal?: AbortSignal,
): Promise<ActionResult> {
  const old = await client.envelopes.get(request.id, signal);
  requireUnsigned(old, made, request);
  if (isTerminal(old.status ?? '')) return { envelope: old, by: 'lookup' };
  try {
    const { envelope, by } = await cancelEnvelope(client, request.id, request.reason, signal);
    return { envelope: await readIfIncomplete(client, envelope, signal), by };
  } catch (error) {
    if (!isRefusedByState(error)) throw error;
    const now = await client.envelopes.get(request.id, signal);
    requireUnsigned(now, made, { evenIfSigned: true });
    if (!isTerminal(now.status ?? '')) throw error;
    return { envelope: now, by: 'lookup' };
  }
}

async function sendNew(client: Client, id: string, signal?: AbortSignal): Promise<ActionResult> {
  try {
    const { envelope, by } = await sendEnvelope(client, id, signal);
    return { envelope: await readIfIncomplete(client, envelope, signal), by };
  } catch (error) {
    if (!isRefusedByState(error)) throw error;
    const now = await client.envelopes.get(id, signal);
    if (now.status === 'DRAFT') throw error;
    if (!isVoid(now)) return { envelope: now, by: 'lookup' };
    throw notPossible(
      `The draft ${id} was canceled before it was sent.`,
      'Run the same command again to create another one.',
    );
  }
}

/** Reads the envelope if the response left fields out. */
async function readIfIncomplete(client: Client, envelope: Envelope, signal?: AbortSignal): Promise<Envelope> {
  return envelope.signers ? envelope : ((await readQuietly(client, envelope.id, signal)) ?? envelope);
}
