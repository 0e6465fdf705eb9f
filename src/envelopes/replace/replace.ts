import type { Client } from '../../api/client.ts';
import type { Envelope, Signer } from '../../api/schemas.ts';
import { listed } from '../../kernel/duration.ts';
import {
  EsignError,
  isAmbiguous,
  isRefusedByState,
  RequestIdUsedError,
  ServiceError,
  UsageError,
} from '../../kernel/errors.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { isTerminal, isVoid } from '../../kernel/vocabulary.ts';
import { cancelEnvelope, sendEnvelope } from '../actions.ts';
import { type Created, createEnvelope, type NewEnvelope } from '../create.ts';
import { readIfExists } from '../marked-envelopes.ts';
import { showsMarker } from '../markers.ts';
import type { RequestIds } from '../request-ids/request-ids.ts';
import { isSameEnvelope } from '../request-ids/same-content.ts';
import type { Searching } from '../request-ids/search.ts';
import { type ActionResult, readQuietly } from '../settle.ts';
import { byPrecedence, findReplacement, replacedBy, replacementsOf } from './find.ts';
import type { Remembered, ReplaceMemory } from './memory.ts';
import { buildReplacement, isChanged, type ReplacementChanges, type SignerChange } from './wanted.ts';

/*
 * The API cannot change an envelope. So a draft of the new one is made, which mails nobody; then the old one is cancelled;
 * then the draft is sent. Whatever ends this in between, the same command finds the draft and goes on.
 */

export interface ReplaceRequest {
  /** The envelope that is to be replaced. */
  id: string;
  changes: ReplacementChanges;
  /** Only the draft is made; the old one stays as it is. */
  draft: boolean;
  /** Whoever has signed already is to sign again. */
  evenIfSigned: boolean;
  /** Why the old one is cancelled. */
  reason?: string | undefined;
}

export type ReplaceStep = 'make' | 'cancel' | 'send';

/** What is there, and what is left to do. */
export interface ReplacementPlan {
  old: Envelope;
  wanted: NewEnvelope;
  signers: readonly SignerChange[];
  /** The new one, where an earlier run has made it. */
  made: Envelope | undefined;
  steps: readonly ReplaceStep[];
}

export type ReplaceEvent =
  /** A step was done, or turned out to be done already (`by: 'lookup'`). */
  | { type: 'made' | 'cancelled' | 'sent'; envelope: Envelope; by: Created['by'] }
  /** Another machine replaced the same envelope at the same time. Its envelope is kept; this run's draft was canceled. */
  | { type: 'superseded'; envelope: Envelope; ownId: string };

export interface ReplaceResult {
  old: Envelope;
  new: Envelope;
}

/**
 * Reads what is there and says what is left to do. Nothing is changed.
 * @throws ServiceError INVALID_STATE where the envelope is not to be replaced; UsageError where the changes do not fit it.
 */
export async function planReplacement(
  client: Client,
  request: ReplaceRequest,
  known: Remembered,
  signal?: AbortSignal,
): Promise<ReplacementPlan> {
  const old = await client.envelopes.get(request.id, signal);
  const { envelope: wanted, signers } = buildReplacement(old, request.changes);
  const made = await madeBefore(client, old, known, signal);
  const plan = { old, wanted, signers, made, steps: stepsFor(old, made, request) };
  if (made && !isSameEnvelope(made, wanted)) throw alreadyReplacedError(old, made);
  const isPointless = !isTerminal(old.status ?? '') && !isChanged(old, wanted, request.changes);
  if (!made && isPointless) throw nothingToChange(old);
  const isFree = made === undefined || plan.steps.includes('cancel');
  if (isFree && plan.steps.length > 0) refuse(old, made, request);
  return plan;
}

/** The new one, where it was made already. */
async function madeBefore(
  client: Client,
  old: Envelope,
  { madeId }: Remembered,
  signal?: AbortSignal,
): Promise<Envelope | undefined> {
  const remembered = madeId === undefined ? undefined : await readIfExists(client, madeId, signal);
  // This machine's record is enough where the service doesn't return metadata.
  const isOurs = remembered && (replacedBy(remembered) ?? old.id) === old.id;
  return isOurs && !isVoid(remembered) ? remembered : findReplacement(client, old, { signal });
}

function stepsFor(old: Envelope, made: Envelope | undefined, { draft }: ReplaceRequest): ReplaceStep[] {
  const making: ReplaceStep[] = made ? [] : ['make'];
  if (draft) return making;
  const cancelling: ReplaceStep[] =
    isTerminal(old.status ?? '') && old.status !== 'COMPLETED' ? [] : ['cancel'];
  const sending: ReplaceStep[] = made === undefined || made.status === 'DRAFT' ? ['send'] : [];
  return [...making, ...cancelling, ...sending];
}

/** @throws ServiceError INVALID_STATE when all have signed, or some have and that was not said to be meant. */
function refuse(
  old: Envelope,
  made: Envelope | undefined,
  { evenIfSigned }: Pick<ReplaceRequest, 'evenIfSigned'>,
): void {
  const draft = made
    ? ` The draft ${made.id} is not needed then: \`${command('envelopes', 'cancel', made.id)}\`.`
    : '';
  if (old.status === 'COMPLETED')
    throw notPossible(
      `${old.id} is COMPLETED: everybody has signed it, so that it is not replaced.`,
      `Make another one: \`esign envelopes create\`.${draft}`,
    );
  const signed = (old.signers ?? []).filter(hasSigned);
  if (signed.length === 0 || evenIfSigned) return;
  throw notPossible(
    `${listed(signed.map(({ name, email, id }) => name || email || id || 'a signer'))} ${signed.length === 1 ? 'has' : 'have'} signed ${old.id} already, and would have to sign again.`,
    `If that is meant, add --even-if-signed.${draft}`,
  );
}

function hasSigned({ status, signedAt }: Signer): boolean {
  return status === 'SIGNED' || Boolean(signedAt);
}

function nothingToChange({ id, status }: Envelope): UsageError {
  return new UsageError(
    `Nothing would change: ${id} is ${status ?? 'unknown'} and the new one would be the same.`,
    {
      hint: 'Pass what to change, such as --signer OLD=MAILBOX or --subject. If the template was corrected, pass --template.',
    },
  );
}

function alreadyReplacedError(old: Envelope, made: Envelope): ServiceError {
  const isDraft = made.status === 'DRAFT';
  return notPossible(
    isDraft
      ? `A draft was made in place of ${old.id} already, with other changes: ${made.id}.`
      : `${old.id} was replaced by ${made.id} already, which is ${made.status ?? 'unknown'}.`,
    isDraft
      ? `See it: \`${command('envelopes', 'get', made.id)}\`. To go on with it, run the command that made it; to begin anew, take it back first: \`${command('envelopes', 'cancel', made.id)}\`.`
      : `To change that one: \`${command('envelopes', 'replace', made.id)}\`.`,
  );
}

function notPossible(message: string, hint: string): ServiceError {
  return new ServiceError('INVALID_STATE', message, { status: 400, hint });
}

export interface ReplaceContext {
  client: Client;
  memory: ReplaceMemory;
  requestId: string;
  ids: RequestIds;
  signal?: AbortSignal | undefined;
  searching?: Searching | undefined;
  /** Given the webhook secret, where there is one to be made. */
  withSecret?: (wanted: NewEnvelope, make: (wanted: NewEnvelope) => Promise<Created>) => Promise<Created>;
}

/**
 * Does what is left to do, each step written down. It may be ended between any two steps.
 * @throws UnknownOutcomeError when a reply was lost and looking did not settle it.
 */
export async function* carryOut(
  plan: ReplacementPlan,
  request: ReplaceRequest,
  means: ReplaceContext,
): AsyncGenerator<ReplaceEvent, ReplaceResult, undefined> {
  const { client, memory, signal } = means;
  let { old, made } = plan;
  if (made === undefined) {
    const created = await make(plan.wanted, old, means);
    made = created.envelope;
    yield { type: 'made', ...created };
  } else if (memory.known.madeId !== made.id) await memory.note({ type: 'made', id: made.id });
  if (plan.steps.includes('cancel')) {
    signal?.throwIfAborted();
    const cancelled = await cancelOld(client, made, request, signal);
    old = cancelled.envelope;
    await memory.note({ type: 'cancelled' });
    yield { type: 'cancelled', ...cancelled };
  }
  if (plan.steps.includes('send')) {
    signal?.throwIfAborted();
    const kept = await preferredTo(made, old, client, signal);
    if (kept) {
      yield { type: 'superseded', envelope: kept, ownId: made.id };
      made = kept;
      await memory.note({ type: 'made', id: made.id });
      if (!isSameEnvelope(made, plan.wanted)) throw alreadyReplacedError(old, made);
    }
    signal?.throwIfAborted();
    const sent = await sendNew(client, made.id, signal);
    made = sent.envelope;
    await memory.note({ type: 'sent' });
    yield { type: 'sent', ...sent };
  }
  return { old, new: made };
}

/**
 * Returns the envelope to keep instead of the draft, after canceling the draft: another machine may have replaced the same
 * envelope at the same time. Every machine prefers the same one, and sending it twice is refused by the service, so what is
 * left is the time that the list lags behind.
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

async function make(wanted: NewEnvelope, old: Envelope, means: ReplaceContext): Promise<Created> {
  const {
    client,
    memory,
    requestId,
    ids,
    signal,
    searching,
    withSecret = (envelope, create) => create(envelope),
  } = means;
  // A request of a run whose reply was lost may have created it; that run's version may not have recorded the ID.
  const options = { requestId, ids, rerun: memory.known.askedAt !== undefined, signal, searching };
  await memory.asked(requestId);
  try {
    const created = await withSecret(wanted, (envelope) => createEnvelope(client, envelope, options));
    refuseUnrelated(created, old, requestId);
    await memory.note({ type: 'made', id: created.envelope.id });
    return { ...created, envelope: await whole(client, created.envelope, signal) };
  } catch (error) {
    if (error instanceof EsignError && !isAmbiguous(error)) await memory.note({ type: 'refused' });
    throw error;
  }
}

/** @throws RequestIdUsedError where the ID belongs to an envelope that was made for something else. */
function refuseUnrelated({ envelope, by }: Created, old: Envelope, requestId: string): void {
  if (by !== 'earlier' || !showsMarker(envelope) || replacedBy(envelope) === old.id) return;
  throw new RequestIdUsedError(
    `The request ID ${requestId} was already used for ${envelope.id}, which does not replace ${old.id}.`,
    { hint: 'Nothing was sent. Use another request ID.' },
  );
}

/** Somebody may have signed since it was looked at; what has ended by itself needs no cancelling. */
async function cancelOld(
  client: Client,
  made: Envelope,
  request: ReplaceRequest,
  signal?: AbortSignal,
): Promise<ActionResult> {
  const old = await client.envelopes.get(request.id, signal);
  refuse(old, made, request);
  if (isTerminal(old.status ?? '')) return { envelope: old, by: 'lookup' };
  try {
    const { envelope, by } = await cancelEnvelope(client, request.id, request.reason, signal);
    return { envelope: await whole(client, envelope, signal), by };
  } catch (error) {
    if (!isRefusedByState(error)) throw error;
    const now = await client.envelopes.get(request.id, signal);
    refuse(now, made, { evenIfSigned: true });
    if (!isTerminal(now.status ?? '')) throw error;
    return { envelope: now, by: 'lookup' };
  }
}

async function sendNew(client: Client, id: string, signal?: AbortSignal): Promise<ActionResult> {
  try {
    const { envelope, by } = await sendEnvelope(client, id, signal);
    return { envelope: await whole(client, envelope, signal), by };
  } catch (error) {
    if (!isRefusedByState(error)) throw error;
    const now = await client.envelopes.get(id, signal);
    if (now.status === 'DRAFT') throw error;
    if (!isVoid(now)) return { envelope: now, by: 'lookup' };
    throw notPossible(
      `The draft ${id} was cancelled before it was sent.`,
      'The same command makes another one.',
    );
  }
}

/** A reply may tell less than the envelope. */
async function whole(client: Client, envelope: Envelope, signal?: AbortSignal): Promise<Envelope> {
  return envelope.signers ? envelope : ((await readQuietly(client, envelope.id, signal)) ?? envelope);
}
