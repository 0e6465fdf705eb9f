import type { Client } from '../api/client.ts';
import type { Envelope, Signer } from '../api/resource-types.ts';
import type { PlannedWrite } from '../api/write-gate.ts';
import { replacedBy } from '../catalog/markers.ts';
import { whoseTurn } from '../catalog/turns.ts';
import { listed } from '../kernel/duration.ts';
import {
  EsignError,
  NetworkError,
  NoApiError,
  type NothingToDoError,
  ServiceError,
  UsageError,
} from '../kernel/errors.ts';
import { undefinedIfNotFound } from '../kernel/request-failures.ts';
import { canBeCanceled, canBeSent, hasDeclined, hasEnded, hasSigned } from '../kernel/statuses.ts';
import { nameOf } from '../kernel/text/person.ts';
import { command } from '../kernel/text/shell-words.ts';
import type { LoggedWrite } from '../log/logged-write.ts';
import { type ActionResult, cancelEnvelope, sendEnvelope } from '../once/actions/send-or-cancel.ts';
import { type Concern, findProblems, type KnownRoles, NO_ROLES, sortProblems } from './envelope-problems.ts';

/** An action on existing envelopes. Commands, dry runs, questions, and MCP tools all show and execute its plans. */
export interface EnvelopeAction {
  name: 'send' | 'cancel' | 'remind';
  /** The past participle, as in "can't be sent". */
  done: 'sent' | 'canceled' | 'reminded';
  /** Plans the action on an envelope, which is read unless it is known. Changes nothing. */
  plan(id: string, known?: Envelope): Promise<Plan>;
}

/** What an action would do with an envelope. `envelope` is undefined if it can't be read. */
export type Plan = { id: string; envelope: Envelope | undefined } & (WritePlan | RefusedPlan | SkippedPlan);

export interface WritePlan {
  kind: 'execute';
  /** The signers whom the action is about. */
  signers: readonly Signer[];
  /** The writes, for the guards. */
  writes: readonly PlannedWrite[];
  /** Probable mistakes, which are only reported. */
  notes: readonly string[];
  /** What the user should confirm. */
  concerns: readonly Concern[];
  /** @throws NothingToDoError if another process did it in the meantime. */
  execute(): Promise<ActionReport>;
}

/** The action isn't possible. */
export interface RefusedPlan {
  kind: 'refuse';
  error: EsignError;
}

/** Nothing needs to be done. */
export interface SkippedPlan {
  kind: 'skip';
  reason: NothingToDoError;
}

export interface ActionReport extends ActionResult {
  /** The signers whom it concerned; for a reminder, those who were emailed. */
  signers: readonly Signer[];
}

export interface ActionContext {
  client: Client;
  signal: AbortSignal;
  rolesOf: (templateId: string) => Promise<KnownRoles>;
  /** Reads the reminders in this machine's log of writes. */
  readReminders: () => Promise<LoggedWrite[]>;
}

export function sendAction(
  means: ActionContext,
  { allowMissing }: { allowMissing: boolean },
): EnvelopeAction {
  const { client, signal } = means;
  const plan = async (envelope: Envelope): Promise<WritePlan | RefusedPlan> => {
    const { id, status, signers } = envelope;
    if (status && !canBeSent(status)) return refuseForStatus(envelope, 'sent');
    const original = await originalOf(envelope, means);
    if (original !== undefined) return refuseBoth(envelope, original);
    const { notes, concerns } = sortProblems(await problemsOf(envelope, means), allowMissing);
    return {
      kind: 'execute',
      signers: signers ?? [],
      writes: [{ action: 'send', envelopeId: id }],
      notes,
      concerns,
      execute: async () => {
        const sent = await sendEnvelope(client, id, signal);
        return { ...sent, signers: whoseTurn(sent.envelope) };
      },
    };
  };
  return { name: 'send', done: 'sent', plan: (id, known) => planOrRefuse(id, known, means, plan) };
}

/** Returns the envelope that a draft replaces, unless that has ended: nobody should be asked to sign both. */
async function originalOf(draft: Envelope, { client, signal }: ActionContext): Promise<Envelope | undefined> {
  const id = replacedBy(draft);
  const original = id === undefined ? undefined : await undefinedIfNotFound(client.envelopes.get(id, signal));
  return original && !hasEnded(original) ? original : undefined;
}

function refuseBoth({ id }: Envelope, original: Envelope): RefusedPlan {
  const isDone = original.status === 'COMPLETED';
  return refusal(
    `${id} replaces ${original.id}, which is ${original.status ?? 'unknown'}, so it can't be sent.`,
    isDone
      ? `Nothing was sent. To cancel the draft, run \`${command('envelopes', 'cancel', id)}\`.`
      : `Nothing was sent. Run the \`esign envelopes replace\` command again that created the draft. Or run \`${command('envelopes', 'cancel', original.id)}\` first, and then \`${command('envelopes', 'send', id)}\`.`,
  );
}

async function problemsOf({ templateId, signers }: Envelope, { rolesOf }: ActionContext) {
  const roles = templateId ? await undefinedIfNotFound(rolesOf(templateId)) : undefined;
  return signers ? findProblems(signers, roles ?? NO_ROLES) : [];
}

export function cancelAction(
  means: ActionContext,
  { reason, evenIfDeclined }: { reason: string | undefined; evenIfDeclined: boolean },
): EnvelopeAction {
  const { client, signal } = means;
  const plan = async (envelope: Envelope): Promise<WritePlan | RefusedPlan> => {
    const { id, status } = envelope;
    if (status === 'DECLINED' && !evenIfDeclined) return declined(envelope);
    if (status && !canBeCanceled(status, evenIfDeclined)) return refuseForStatus(envelope, 'canceled');
    return {
      kind: 'execute',
      signers: envelope.signers ?? [],
      writes: [{ action: 'cancel', envelopeId: id }],
      notes: [],
      concerns: lostSignatures(envelope),
      execute: async () => {
        const canceled = await cancelEnvelope(client, id, reason, signal);
        return { ...canceled, signers: canceled.envelope.signers ?? [] };
      },
    };
  };
  return { name: 'cancel', done: 'canceled', plan: (id, known) => planOrRefuse(id, known, means, plan) };
}

function declined({ id, signers }: Envelope): RefusedPlan {
  const decliner = signers?.find(hasDeclined);
  const by = decliner ? ` by ${nameOf(decliner)}` : '';
  return refusal(
    `${id} was declined${by}. If you cancel it, its status no longer shows that.`,
    'Nothing was changed. Add --even-if-declined to cancel it anyway.',
  );
}

function lostSignatures({ id, signers }: Envelope): Concern[] {
  const signed = (signers ?? []).filter(hasSigned).map(nameOf);
  if (signed.length === 0) return [];
  const text = `${listed(signed)} ${signed.length === 1 ? 'has' : 'have'} already signed ${id}.`;
  const hint = 'Nothing was changed. To cancel it anyway, add --yes.';
  return [{ text, coveredByYes: true, error: new UsageError(`${text} This needs confirmation.`, { hint }) }];
}

/**
 * Plans an action on an envelope. An error becomes a refusal, so that the others of several are tried, unless it would be the same for
 * all of them.
 */
export async function planOrRefuse(
  id: string,
  known: Envelope | undefined,
  { client, signal }: Pick<ActionContext, 'client' | 'signal'>,
  plan: (envelope: Envelope) => Promise<WritePlan | RefusedPlan | SkippedPlan>,
): Promise<Plan> {
  let envelope = known;
  try {
    envelope ??= await readIfAllowed(id, client, signal);
    return { id, envelope, ...(await plan({ ...envelope, id })) };
  } catch (error) {
    if (!(error instanceof EsignError) || failsEveryEnvelope(error)) throw error;
    return { id, envelope, kind: 'refuse', error };
  }
}

function failsEveryEnvelope(error: EsignError): boolean {
  if (error instanceof NetworkError || error instanceof NoApiError) return true;
  return error instanceof ServiceError && error.status === 401;
}

/** Returns undefined if the key can't read envelopes. Some keys can only write. */
async function readIfAllowed(id: string, client: Client, signal: AbortSignal): Promise<Envelope | undefined> {
  try {
    return await client.envelopes.get(id, signal);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'FORBIDDEN') return undefined;
    throw error;
  }
}

/** Refuses an action that the envelope's status doesn't allow. */
export function refuseForStatus({ id, status }: Envelope, done: EnvelopeAction['done']): RefusedPlan {
  const is = `${id} is ${status ?? 'unknown'}`;
  const message = done === 'reminded' ? `Nobody can be reminded: ${is}.` : `${is} and can't be ${done}.`;
  const { kind, error } = refusal(message, nextStepAt(status, id));
  error.subject = { kind: 'envelope', id };
  return { kind, error };
}

/** Returns what to do instead. The message already says the status. */
function nextStepAt(status: Envelope['status'], id: string): string {
  if (status === 'COMPLETED')
    return `To get the signed PDF, run \`${command('envelopes', 'download', id)}\`.`;
  if (status === 'DRAFT') return `To send it, run \`${command('envelopes', 'send', id)}\`.`;
  return `To see what happened, run \`${command('envelopes', 'get', id, '--history')}\`.`;
}

function refusal(message: string, hint?: string): RefusedPlan & { error: ServiceError } {
  return { kind: 'refuse', error: new ServiceError('INVALID_STATE', message, { status: 400, hint }) };
}

/** A plan whose writes are sent. */
export type ExecutablePlan = Plan & WritePlan;

export function isExecutable(plan: Plan): plan is ExecutablePlan {
  return plan.kind === 'execute';
}
