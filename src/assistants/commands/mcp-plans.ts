import type { Envelope, Signer } from '../../api/resource-types.ts';
import type { PlannedWrite } from '../../api/write-gate.ts';
import { peopleAt } from '../../cli/input/confirm.ts';
import { withOutcomeCheck } from '../../cli/outcome-check.ts';
import type { Context } from '../../cli/session/context.ts';
import { whatIsDone } from '../../envelopes/commands/actions/action-words.ts';
import { actionContext } from '../../envelopes/commands/actions/plan-each.ts';
import { checkSigners, unconfirmedError } from '../../envelopes/commands/confirm-concerns.ts';
import { envelopeWithWarning } from '../../envelopes/commands/create/created-text.ts';
import { executeCreate } from '../../envelopes/commands/create/execute-create.ts';
import { storedSecretOf } from '../../envelopes/commands/create/webhook-secret.ts';
import { plannedWritesOf, whatIsReplaced } from '../../envelopes/commands/replace/confirm-replace.ts';
import type { ReplaceFlags } from '../../envelopes/commands/replace/replace-flags.ts';
import { replacementNotes } from '../../envelopes/commands/replace/replaced-text.ts';
import { checkedPlan, replaceEnvelope } from '../../envelopes/commands/replace/run-replacements.ts';
import type { Concern, SignerWithRole } from '../../envelopes/envelope-problems.ts';
import type { ActionContext, EnvelopeAction } from '../../envelopes/plan-writes.ts';
import type { Effect } from '../../kernel/command-effects.ts';
import { type NothingToDoError, sentenceOf } from '../../kernel/errors.ts';
import { createBody, type EnvelopeInput, plannedCreate } from '../../once/create-body.ts';
import { loggedEnvelopes } from '../../once/logged-creates.ts';
import type { QuestionFacts } from './mcp-question.ts';

/** A planned action: its description for the user, and the function that runs it. */
export interface PlannedCall {
  would: {
    action: string;
    effect: Effect;
    /** Warnings. The name is part of the JSON result. */
    warnings: readonly string[];
    envelope: Record<string, unknown> | undefined;
  };
  /** The facts for the user's confirmation. */
  question: QuestionFacts;
  /** The reason if nothing needs to be done, so that nobody is asked. */
  skip?: NothingToDoError;
  /** The writes for the guards. */
  writes: readonly PlannedWrite[];
  act: () => Promise<unknown>;
}

/** @throws UsageError if the signers don't match the template's roles. Nothing is created. */
export async function planCreate(
  wanted: EnvelopeInput,
  given: { requestId: string; allowMissing: boolean },
  context: Context,
): Promise<PlannedCall> {
  const { requestId, allowMissing } = given;
  const body = createBody(wanted, requestId);
  const { notes, concerns } = await checkSigners(wanted, allowMissing, context);
  refuseUnconfirmed(concerns);
  const client = await context.session.client();
  const memory = await context.session.memory();
  const [known] = await loggedEnvelopes(client, memory, requestId);
  const made =
    known !== undefined
      ? [
          `${known} was already created with this request ID. It is returned, and nothing new is created. For a second envelope, pass a different requestId.`,
        ]
      : [];
  const hint = () =>
    `Call create again with requestId ${requestId}. It searches first, and creates the envelope only if it doesn't exist.`;
  // The same call, confirmed twice, emails once.
  const options = { requestId, isGiven: true, hint };
  return {
    would: {
      action: wanted.send ? 'create and send' : 'create a draft',
      effect: wanted.send ? 'mails' : 'writes',
      warnings: [...notes, ...textsOf(concerns), ...made],
      envelope: { ...body },
    },
    question: {
      what: wanted.send
        ? `Create an envelope and send it to ${peopleAt(wanted.signers.map(({ email }) => email))}`
        : 'Create a draft',
      subject: wanted.subject,
      message: wanted.message,
      people: wanted.signers,
    },
    writes: [plannedCreate(wanted)],
    act: async () => envelopeWithWarning(await executeCreate(body, options, context)),
  };
}

/** Plans an action on an envelope. @throws ServiceError INVALID_STATE if it isn't possible. */
export async function planAction(
  actionOf: (means: ActionContext) => EnvelopeAction,
  id: string,
  context: Context,
): Promise<PlannedCall> {
  const action = actionOf(await actionContext(context));
  const plan = await action.plan(id);
  const { envelope } = plan;
  const would = { action: action.name, effect: 'mails' } as const;
  const subject = envelope?.subject;
  if (plan.kind === 'refuse') throw plan.error;
  if (plan.kind === 'skip') {
    const { reason } = plan;
    const brief = envelope && summarizeEnvelope(envelope, envelope.signers);
    return {
      would: { ...would, warnings: [sentenceOf(reason)], envelope: brief },
      question: { what: action.name, envelopeId: id, subject, people: [] },
      skip: reason,
      writes: [],
      act: () => Promise.reject(reason),
    };
  }
  const { notes, concerns, signers, writes, execute } = plan;
  refuseUnconfirmed(concerns);
  const write = {
    unknown: () => `Interrupted before the service responded. ${id} may or may not have been ${action.done}.`,
    hint: () => `Check the status of ${id} before you retry.`,
  };
  return {
    would: {
      ...would,
      warnings: [...notes, ...textsOf(concerns)],
      envelope: envelope && summarizeEnvelope(envelope, signers),
    },
    question: { what: whatIsDone(action, [plan]), envelopeId: id, subject, people: signers },
    writes,
    act: () => withOutcomeCheck(write, context, async () => (await execute()).envelope),
  };
}

/** MCP has no prompt, but the dry run shows what would be lost, and the user agrees to it. @throws UsageError for anything else */
function refuseUnconfirmed(concerns: readonly Concern[]): void {
  const error = unconfirmedError(concerns, true);
  if (error !== undefined) throw error;
}

function textsOf(concerns: readonly Concern[]): string[] {
  return concerns.map(({ text }) => text);
}

export async function planReplace(id: string, flags: ReplaceFlags, context: Context): Promise<PlannedCall> {
  const plan = await checkedPlan(id, flags, context);
  const { old, made, wanted, signers, steps } = plan;
  const isKept = (await storedSecretOf(id, context)) !== undefined;
  const notes = made === undefined ? replacementNotes(old, signers, { wanted, isKept }) : [];
  const { webhookSecret: _, ...body } = wanted;
  return {
    would: {
      action: `replace: ${steps.join(', ') || 'nothing left to do'}`,
      effect: flags.draft ? 'writes' : 'mails',
      warnings: notes,
      envelope: { old: summarizeEnvelope(old, old.signers), new: body },
    },
    question: {
      what: whatIsReplaced(plan),
      envelopeId: old.id,
      subject: wanted.subject,
      message: wanted.message,
      people: wanted.signers,
    },
    writes: plannedWritesOf(plan),
    act: () => replaceEnvelope(id, flags, context),
  };
}

/** Returns the fields that identify an envelope, and its signers. */
function summarizeEnvelope(
  envelope: Envelope,
  signers: readonly (SignerWithRole & Signer)[] | null | undefined,
) {
  const { id, status, subject, templateName, signingOrder, expiresAt } = envelope;
  const people = (signers ?? []).map(({ name, email, role, order }) => ({ name, email, role, order }));
  return { id, status, subject, templateName, signingOrder, expiresAt, signers: people };
}
