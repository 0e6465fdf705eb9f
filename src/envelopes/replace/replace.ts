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
 * The API can't change an envelope. Instead, a draft of the new one is created, which emails nobody; the old one is canceled;
 * and the draft is sent. If this is interrupted, the same command finds the draft and continues.
 */

export interface ReplaceRequest {
  /** The envelope to replace. */
  id: string;
  changes: ReplacementChanges;
  /** Creates only the draft and keeps the old envelope. */
  draft: boolean;
  /** Replaces the envelope even if some have signed, who then have to sign again. */
  evenIfSigned: boolean;
  /** The reason for canceling the old envelope. */
  reason?: string | undefined;
}

export type ReplaceStep = 'make' | 'cancel' | 'send';

/** The current state, and the remaining steps. */
export interface ReplacementPlan {
  old: Envelope;
  wanted: NewEnvelope;
  signers: readonly SignerChange[];
  /** The new envelope, if an earlier run created it. */
  made: Envelope | undefined;
  steps: readonly ReplaceStep[];
}

export type ReplaceEvent =
  /** A step was done, or had already been done (`by: 'lookup'`). */
  | { type: 'made' | 'cancelled' | 'sent'; envelope: Envelope; by: Created['by'] }
  /** Another machine replaced the same envelope at the same time. Its envelope is kept; this run's draft was canceled. */
  | { type: 'superseded'; envelope: Envelope; ownId: string };

export interface ReplaceResult {
  old: Envelope;
  new: Envelope;
}

/**
 * Reads the current state and returns the remaining steps. Changes nothing.
 * @throws ServiceError INVALID_STATE if the envelope can't be replaced; UsageError if the changes are not valid for it.
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

/** Returns the new envelope, if it already exists. */
async function madeBefore(
  client: Client,
  old: Envelope,
  { madeId }: Remembered,
  signal?: AbortSignal,
): Promise<Envelope | undefined> {
  const remembered = madeId === undefined ? undefined : await readIfExists(client, madeId, signal);
  // If the service doesn't return metadata, this machine's record is enough.
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

/** @throws ServiceError INVALID_STATE if all have signed, or some have and `evenIfSigned` is not set. */
function refuse(
  old: Envelope,
  made: Envelope | undefined,
  { evenIfSigned }: Pick<ReplaceRequest, 'evenIfSigned'>,
): void {
  const draft = made
    ? ` Cancel the draft ${made.id} if it isn't needed anymore: \`${command('envelopes', 'cancel', made.id)}\`.`
    : '';
  if (old.status === 'COMPLETED')
    throw notPossible(
      `${old.id} is COMPLETED. Everybody has signed it, so it can't be replaced.`,
      `Create a new one with \`esign envelopes create\`.${draft}`,
    );
  const signed = (old.signers ?? []).filter(hasSigned);
  if (signed.length === 0 || evenIfSigned) return;
  throw notPossible(
    `${listed(signed.map(({ name, email, id }) => name || email || id || 'a signer'))} ${signed.length === 1 ? 'has' : 'have'} signed ${old.id} already, and would have to sign again.`,
    `To replace it anyway, add --even-if-signed.${draft}`,
  );
}

function hasSigned({ status, signedAt }: Signer): boolean {
  return status === 'SIGNED' || Boolean(signedAt);
}

function nothingToChange({ id, status }: Envelope): UsageError {
  return new UsageError(
    `Nothing would change. ${id} is ${status ?? 'unknown'}, and the new envelope would be the same.`,
    {
      hint: 'Pass what to change, such as --signer OLD=MAILBOX or --subject. If you corrected the template, pass --template.',
    },
  );
}

function alreadyReplacedError(old: Envelope, made: Envelope): ServiceError {
  const isDraft = made.status === 'DRAFT';
  return notPossible(
    isDraft
      ? `There is already a draft that replaces ${old.id}, with other changes: ${made.id}.`
      : `${old.id} was already replaced by ${made.id}, which is ${made.status ?? 'unknown'}.`,
    isDraft
      ? `To see it, run \`${command('envelopes', 'get', made.id)}\`. To continue with it, run the command that created it. To start over, first cancel it: \`${command('envelopes', 'cancel', made.id)}\`.`
      : `To change that one, run \`${command('envelopes', 'replace', made.id)}\`.`,
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
  /** Receives the webhook secret, if one is created. */
  withSecret?: (wanted: NewEnvelope, make: (wanted: NewEnvelope) => Promise<Created>) => Promise<Created>;
}

/**
 * Runs the remaining steps and records each one. It may be interrupted between any two steps.
 * @throws UnknownOutcomeError if a reply was lost and the outcome could not be determined.
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
  // A run whose reply was lost may have created it, and an older version of esign may not have recorded the ID.
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

/** @throws RequestIdUsedError if the ID belongs to an envelope that replaces another one. */
function refuseUnrelated({ envelope, by }: Created, old: Envelope, requestId: string): void {
  if (by !== 'earlier' || !showsMarker(envelope) || replacedBy(envelope) === old.id) return;
  throw new RequestIdUsedError(
    `The request ID ${requestId} was already used for ${envelope.id}, which does not replace ${old.id}.`,
    { hint: 'Nothing was sent. Use another request ID.' },
  );
}

/** Cancels the old envelope, unless it has ended. Someone may have signed since it was last read. */
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
      `The draft ${id} was canceled before it was sent.`,
      'Run the same command again to create another one.',
    );
  }
}

/** Reads the envelope if the reply left fields out. */
async function whole(client: Client, envelope: Envelope, signal?: AbortSignal): Promise<Envelope> {
  return envelope.signers ? envelope : ((await readQuietly(client, envelope.id, signal)) ?? envelope);
}
