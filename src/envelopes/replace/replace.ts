import type { Client } from '../../api/client.ts';
import { LISTED_AFTER_MS } from '../../api/recent-pages.ts';
import type { Envelope, Signer } from '../../api/schemas.ts';
import { listed } from '../../kernel/duration.ts';
import { EsignError, isAmbiguous, isNotFound, ServiceError } from '../../kernel/errors.ts';
import { isTerminal, isVoid } from '../../kernel/vocabulary.ts';
import { cancelEnvelope, sendEnvelope } from '../actions.ts';
import { type Created, createEnvelope, type NewEnvelope } from '../create.ts';
import { type Acted, readQuietly } from '../settle.ts';
import { findReplacement, replacedBy } from './find.ts';
import type { Remembered, ReplaceMemory } from './memory.ts';
import { type Changes, isWhatIsWanted, type SignerChange, wantedInsteadOf } from './wanted.ts';

/*
 * The API cannot change an envelope. So a draft of the new one is made, which mails nobody; then the old one is cancelled;
 * then the draft is sent. Whatever ends this in between, the same command finds the draft and goes on.
 */

export interface ReplaceRequest {
  /** The envelope that is to be replaced. */
  id: string;
  changes: Changes;
  /** Only the draft is made; the old one stays as it is. */
  draft: boolean;
  /** Whoever has signed already is to sign again. */
  evenIfSigned: boolean;
  /** Why the old one is cancelled. */
  reason?: string | undefined;
}

export type Step = 'make' | 'cancel' | 'send';

/** What is there, and what is left to do. */
export interface Plan {
  old: Envelope;
  wanted: NewEnvelope;
  signers: readonly SignerChange[];
  /** The new one, where an earlier run has made it. */
  made: Envelope | undefined;
  steps: readonly Step[];
}

/** A step was done, or turned out to be done already (`by: 'lookup'`). */
export interface ReplaceEvent {
  type: 'made' | 'cancelled' | 'sent';
  envelope: Envelope;
  by: Created['by'];
}

export interface Replaced {
  old: Envelope;
  new: Envelope;
}

/** A created envelope may take a moment to appear in the list, so it is looked for more than once; ms before each look. */
const LOOKS = [0, 1_000, 3_000];

/**
 * Reads what is there and says what is left to do. Nothing is changed.
 * @throws ServiceError INVALID_STATE where the envelope is not to be replaced; UsageError where the changes do not fit it.
 */
export async function planReplacement(
  client: Client,
  request: ReplaceRequest,
  known: Remembered,
  signal?: AbortSignal,
): Promise<Plan> {
  const old = await client.envelopes.get(request.id, signal);
  const { envelope: wanted, signers } = wantedInsteadOf(old, request.changes);
  const made = await madeBefore(client, old, wanted, known, signal);
  const plan = { old, wanted, signers, made, steps: stepsFor(old, made, request) };
  if (made && !isWhatIsWanted(made, wanted)) throw otherwiseReplaced(old, made);
  const isFree = made === undefined || plan.steps.includes('cancel');
  if (isFree && plan.steps.length > 0) refuse(old, made, request);
  return plan;
}

/** The new one, where it was made already. */
async function madeBefore(
  client: Client,
  old: Envelope,
  { templateId }: NewEnvelope,
  { madeId, askedAt }: Remembered,
  signal?: AbortSignal,
): Promise<Envelope | undefined> {
  const remembered = madeId === undefined ? undefined : await readIfThere(client, madeId, signal);
  if (remembered && replacedBy(remembered) === old.id && !isVoid(remembered)) return remembered;
  const { clock } = client;
  const isYoung = askedAt !== undefined && Math.abs(clock.now() - askedAt) < LISTED_AFTER_MS;
  for (const wait of isYoung ? LOOKS : [0]) {
    if (wait > 0) await clock.sleep(wait, signal);
    const found = await findReplacement(client, old, { templates: [old.templateId, templateId], signal });
    if (found) return found;
  }
  return undefined;
}

async function readIfThere(client: Client, id: string, signal?: AbortSignal): Promise<Envelope | undefined> {
  try {
    return await client.envelopes.get(id, signal);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function stepsFor(old: Envelope, made: Envelope | undefined, { draft }: ReplaceRequest): Step[] {
  const making: Step[] = made ? [] : ['make'];
  if (draft) return making;
  const cancelling: Step[] = isTerminal(old.status ?? '') && old.status !== 'COMPLETED' ? [] : ['cancel'];
  const sending: Step[] = made === undefined || made.status === 'DRAFT' ? ['send'] : [];
  return [...making, ...cancelling, ...sending];
}

/** @throws ServiceError INVALID_STATE when all have signed, or some have and that was not said to be meant. */
function refuse(
  old: Envelope,
  made: Envelope | undefined,
  { evenIfSigned }: Pick<ReplaceRequest, 'evenIfSigned'>,
): void {
  const draft = made
    ? ` The draft ${made.id} is not needed then: \`esign envelopes cancel ${made.id}\`.`
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

function otherwiseReplaced(old: Envelope, made: Envelope): ServiceError {
  const isDraft = made.status === 'DRAFT';
  return notPossible(
    isDraft
      ? `A draft was made in place of ${old.id} already, with other changes: ${made.id}.`
      : `${old.id} was replaced by ${made.id} already, which is ${made.status ?? 'unknown'}.`,
    isDraft
      ? `See it: \`esign envelopes get ${made.id}\`. To go on with it, run the command that made it; to begin anew, take it back first: \`esign envelopes cancel ${made.id}\`.`
      : `To change that one: \`esign envelopes replace ${made.id}\`.`,
  );
}

function notPossible(message: string, hint: string): ServiceError {
  return new ServiceError('INVALID_STATE', message, { status: 400, hint });
}

export interface CarryingOut {
  client: Client;
  memory: ReplaceMemory;
  requestId: string;
  signal?: AbortSignal | undefined;
  /** Given the webhook secret, where there is one to be made. */
  withSecret?: (wanted: NewEnvelope, make: (wanted: NewEnvelope) => Promise<Created>) => Promise<Created>;
}

/**
 * Does what is left to do, each step written down. It may be ended between any two steps.
 * @throws UnknownOutcomeError when a reply was lost and looking did not settle it.
 */
export async function* carryOut(
  plan: Plan,
  request: ReplaceRequest,
  means: CarryingOut,
): AsyncGenerator<ReplaceEvent, Replaced, undefined> {
  const { client, memory, signal } = means;
  let { old, made } = plan;
  if (made === undefined) {
    const created = await make(plan.wanted, means);
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
    const sent = await sendNew(client, made.id, signal);
    made = sent.envelope;
    await memory.note({ type: 'sent' });
    yield { type: 'sent', ...sent };
  }
  return { old, new: made };
}

async function make(wanted: NewEnvelope, means: CarryingOut): Promise<Created> {
  const { client, memory, requestId, signal, withSecret = (envelope, create) => create(envelope) } = means;
  const options = { requestId, rerun: false, ...(signal ? { signal } : {}) };
  await memory.asked(requestId);
  try {
    const created = await withSecret(wanted, (envelope) => createEnvelope(client, envelope, options));
    await memory.note({ type: 'made', id: created.envelope.id });
    return { ...created, envelope: await whole(client, created.envelope, signal) };
  } catch (error) {
    if (error instanceof EsignError && !isAmbiguous(error)) await memory.note({ type: 'refused' });
    throw error;
  }
}

/** Somebody may have signed since it was looked at; what has ended by itself needs no cancelling. */
async function cancelOld(
  client: Client,
  made: Envelope,
  request: ReplaceRequest,
  signal?: AbortSignal,
): Promise<Acted> {
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

async function sendNew(client: Client, id: string, signal?: AbortSignal): Promise<Acted> {
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

function isRefusedByState(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'INVALID_STATE';
}

/** A reply may tell less than the envelope. */
async function whole(client: Client, envelope: Envelope, signal?: AbortSignal): Promise<Envelope> {
  return envelope.signers ? envelope : ((await readQuietly(client, envelope.id, signal)) ?? envelope);
}
