import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/resource-types.ts';
import { listed } from '../../kernel/duration.ts';
import { ServiceError, UsageError } from '../../kernel/errors.ts';
import { hasEnded, hasSigned, isTerminal } from '../../kernel/statuses.ts';
import { nameOf } from '../../kernel/text/person.ts';
import { command } from '../../kernel/text/shell-words.ts';
import type { WriteMemory } from '../../log/write-memory.ts';
import type { EnvelopeInput } from '../../once/create-body.ts';
import { isSameEnvelope } from '../../once/wording.ts';
import { findOwnReplacement, findReplacement } from './find-replacement.ts';
import { buildReplacement, isChanged, type ReplacementChanges, type SignerChange } from './replacement.ts';

export interface ReplaceRequest {
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
  wanted: EnvelopeInput;
  signers: readonly SignerChange[];
  /** The new envelope, if an earlier run created it. */
  made: Envelope | undefined;
  steps: readonly ReplaceStep[];
}

/**
 * Reads the current state and returns the remaining steps. Changes nothing.
 * @throws ServiceError INVALID_STATE if the envelope can't be replaced; UsageError if the changes are not valid for it.
 */
export async function planReplacement(
  client: Client,
  request: ReplaceRequest,
  memory: WriteMemory,
  signal?: AbortSignal,
): Promise<ReplacementPlan> {
  const old = await client.envelopes.get(request.id, signal);
  const { envelope: wanted, signers } = buildReplacement(old, request.changes);
  const made =
    (await findOwnReplacement(client, old.id, memory, signal)) ??
    (await findReplacement(client, old, signal));
  const plan = { old, wanted, signers, made, steps: stepsFor(old, made, request) };
  if (made && !isSameEnvelope(made, wanted)) throw alreadyReplacedError(old, made);
  const isPointless = !isTerminal(old.status ?? '') && !isChanged(old, wanted, request.changes);
  if (!made && isPointless) throw nothingToChange(old);
  const isFree = made === undefined || plan.steps.includes('cancel');
  if (isFree && plan.steps.length > 0) requireUnsigned(old, made, request);
  return plan;
}

function stepsFor(old: Envelope, made: Envelope | undefined, { draft }: ReplaceRequest): ReplaceStep[] {
  const making: ReplaceStep[] = made ? [] : ['make'];
  if (draft) return making;
  const cancelling: ReplaceStep[] = hasEnded(old) ? [] : ['cancel'];
  const sending: ReplaceStep[] = made === undefined || made.status === 'DRAFT' ? ['send'] : [];
  return [...making, ...cancelling, ...sending];
}

/** @throws ServiceError INVALID_STATE if all have signed, or some have and `evenIfSigned` is not set. */
export function requireUnsigned(
  old: Envelope,
  made: Envelope | undefined,
  { evenIfSigned }: Pick<ReplaceRequest, 'evenIfSigned'>,
): void {
  const draft = made
    ? ` Cancel the draft ${made.id} if it isn't needed anymore: \`${command('envelopes', 'cancel', made.id)}\`.`
    : '';
  if (old.status === 'COMPLETED')
    throw notReplaceableError(
      `${old.id} is COMPLETED. Everyone has signed it, so it can't be replaced.`,
      `Create a new one with \`esign envelopes create\`.${draft}`,
    );
  const signed = (old.signers ?? []).filter(hasSigned);
  if (signed.length === 0 || evenIfSigned) return;
  throw notReplaceableError(
    `${listed(signed.map(nameOf))} ${signed.length === 1 ? 'has' : 'have'} already signed ${old.id} and would have to sign again.`,
    `To replace it anyway, add --even-if-signed.${draft}`,
  );
}

function nothingToChange({ id, status }: Envelope): UsageError {
  return new UsageError(
    `Nothing would change. ${id} is ${status ?? 'unknown'}, and the new envelope would be the same.`,
    {
      hint: 'Specify what to change, for example with --signer OLD=SIGNER or --subject. If you corrected the template, pass --template.',
    },
  );
}

export function alreadyReplacedError(old: Envelope, made: Envelope): ServiceError {
  const isDraft = made.status === 'DRAFT';
  return notReplaceableError(
    isDraft
      ? `${old.id} already has a replacement draft with different changes: ${made.id}.`
      : `${old.id} was already replaced by ${made.id}, which is ${made.status ?? 'unknown'}.`,
    isDraft
      ? `To see it, run \`${command('envelopes', 'get', made.id)}\`. To continue with it, run the command that created it. To start over, first cancel it: \`${command('envelopes', 'cancel', made.id)}\`.`
      : `To change that one, run \`${command('envelopes', 'replace', made.id)}\`.`,
  );
}

export function notReplaceableError(message: string, hint: string): ServiceError {
  return new ServiceError('INVALID_STATE', message, { status: 400, hint });
}
