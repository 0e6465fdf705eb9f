import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/resource-types.ts';
import type { OnSearchStart } from '../../catalog/find-by-request-id.ts';
import { timeOf } from '../../kernel/clock.ts';
import { RequestIdUsedError } from '../../kernel/errors.ts';
import { isRefusedByState } from '../../kernel/request-failures.ts';
import { isTerminal, isVoid } from '../../kernel/statuses.ts';
import type { WriteMemory } from '../../log/write-memory.ts';
import {
  type ActionResult,
  cancelEnvelope,
  readQuietly,
  sendEnvelope,
} from '../../once/actions/send-or-cancel.ts';
import { createBody } from '../../once/create-body.ts';
import { createOnce } from '../../once/create-envelope.ts';
import type { CreateResult, WebhookSecretSource } from '../../once/created.ts';
import { cancelDraft } from '../../once/drafts.ts';
import { isSameEnvelope } from '../../once/wording.ts';
import { findReplacement, replacementId, replacementsOf } from './find-replacement.ts';
import {
  alreadyReplacedError,
  notReplaceableError,
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
  { type: 'made' | 'cancelled' | 'sent'; envelope: Envelope; by: CreateResult['by'] };

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
  let { old } = plan;
  const created = await chooseReplacement(plan, means);
  let made = await readIfIncomplete(client, created.envelope, signal);
  // Before anything else can fail: its webhook secret is linked to it.
  if (plan.steps.includes('make')) yield { type: 'made', ...created };
  if (plan.steps.includes('cancel')) {
    signal?.throwIfAborted();
    const cancelled = await cancelOld(client, made, request, signal);
    old = cancelled.envelope;
    yield { type: 'cancelled', ...cancelled };
  }
  if (plan.steps.includes('send')) {
    signal?.throwIfAborted();
    const sent = await sendNew(client, made.id, signal);
    made = sent.envelope;
    yield { type: 'sent', ...sent };
  }
  for (const draft of created.drafts ?? [])
    await cancelDraft(client, draft, `${old.id} was replaced by ${made.id}`, signal);
  return { old, new: made };
}

/**
 * Returns the new envelope, of which all machines choose the same one: a draft, or the one that was sent. Other drafts are canceled at
 * the end.
 * @throws ServiceError INVALID_STATE if the envelope was replaced with other changes.
 */
async function chooseReplacement(
  { old, wanted, made, steps }: ReplacementPlan,
  means: ReplaceContext,
): Promise<CreateResult> {
  const { client, signal } = means;
  if (made !== undefined && !steps.includes('send')) {
    // A process that was killed after it sent one may have left others.
    const others = made.status === 'DRAFT' ? [] : await replacementsOf(client, old, signal);
    const drafts = others.filter(({ id, status }) => status === 'DRAFT' && id !== made.id);
    return { envelope: made, by: 'earlier', drafts: drafts.map(({ id }) => id) };
  }
  // A draft of an earlier run is taken over.
  const body = createBody(wanted, replacementId(old.id));
  const since = timeOf(old.createdAt) || undefined;
  const created = await createOnce(client, body, { ...means, since, leavesDrafts: true }).catch(
    async (error: unknown) => {
      if (!(error instanceof RequestIdUsedError)) throw error;
      // Another process has replaced it with other signers in the meantime.
      const other = await findReplacement(client, old, signal);
      throw other === undefined ? error : alreadyReplacedError(old, other);
    },
  );
  const envelope = await readIfIncomplete(client, created.envelope, signal);
  if (created.by !== 'reply' && !isSameEnvelope(envelope, wanted)) throw alreadyReplacedError(old, envelope);
  return { ...created, envelope };
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
    throw notReplaceableError(
      `The draft ${id} was canceled before it was sent.`,
      'Run the same command again to create another one.',
    );
  }
}

/** Reads the envelope if the response left fields out. */
async function readIfIncomplete(client: Client, envelope: Envelope, signal?: AbortSignal): Promise<Envelope> {
  return envelope.signers ? envelope : ((await readQuietly(client, envelope.id, signal)) ?? envelope);
}
