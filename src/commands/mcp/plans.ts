import type { Envelope, Signer } from '../../api/schemas.ts';
import type { PlannedWrite } from '../../api/write-gate.ts';
import type { Context } from '../../cli/context.ts';
import { requestIdsOf } from '../../cli/request-ids.ts';
import { withOutcomeCheck } from '../../cli/write.ts';
import { cancelEnvelope, isCancellable, sendEnvelope } from '../../envelopes/actions.ts';
import { findProblems, type Party } from '../../envelopes/completeness.ts';
import { createBody, createEnvelope, type EnvelopeInput, plannedCreate } from '../../envelopes/create.ts';
import { signersNamed } from '../../envelopes/named-signer.ts';
import { remindWithGap } from '../../envelopes/reminders.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { canBeReminded, canBeSent, type Effect } from '../../kernel/vocabulary.ts';
import { confirmProblems, TemplateRoles } from '../envelopes/create/completeness.ts';
import { withWarning } from '../envelopes/create/view.ts';
import { keptSecretOf } from '../envelopes/create/webhook-secret.ts';
import { RecentReminders } from '../envelopes/recent-reminders.ts';
import { withReminderLog } from '../envelopes/reminder-log.ts';
import { checkedPlan, type ReplaceFlags, replaceEnvelope, writesOf } from '../envelopes/replace/run.ts';
import { costOf, notesOn } from '../envelopes/replace/view.ts';

/** A planned action: its description for the user, and the function that runs it. */
export interface PlannedCall {
  would: {
    action: string;
    effect: Effect;
    /** Warnings. The name is part of the JSON result. */
    remarks: readonly string[];
    envelope: Record<string, unknown>;
  };
  /** The writes for the guards. */
  writes: readonly PlannedWrite[];
  act: () => Promise<unknown>;
}

/** @throws UsageError if the signers don't match the template's roles. Nothing is created. */
export async function planCreate(
  wanted: EnvelopeInput,
  given: {
    requestId: string;
    /** The ID may have been used on another machine. */
    rerun: boolean;
    allowMissingRoles: boolean;
  },
  context: Context,
): Promise<PlannedCall> {
  const client = await context.session.client();
  const { requestId, rerun } = given;
  const { webhookSecret: _, ...body } = createBody(wanted, requestId);
  const roles = await new TemplateRoles(client, context).of(wanted.templateId);
  const warnings = await problemTexts(findProblems(wanted.signers, roles), given.allowMissingRoles, context);
  const ids = await requestIdsOf(context.session);
  const known = await ids.read(requestId);
  if (known.state === 'made')
    warnings.push(
      `${known.envelopeId} was already created with this request ID. It is returned, and nothing new is created. For a second envelope, pass another requestId.`,
    );
  const options = { requestId, ids, rerun, signal: context.interrupt.signal };
  const open = {
    unknown: () =>
      `Quit before the service responded. The envelope may exist. Its request ID is ${requestId}.`,
    hint: () =>
      `Call create again with requestId ${requestId}. It searches first, and creates the envelope only if it doesn't exist.`,
  };
  return {
    would: {
      action: wanted.send ? 'create and send' : 'create a draft',
      effect: wanted.send ? 'mails' : 'writes',
      remarks: warnings,
      envelope: body,
    },
    writes: [plannedCreate(wanted)],
    act: () =>
      withOutcomeCheck(open, context, async () => withWarning(await createEnvelope(client, wanted, options))),
  };
}

export async function planSend(
  id: string,
  allowMissingRoles: boolean,
  context: Context,
): Promise<PlannedCall> {
  const client = await context.session.client();
  const envelope = await client.envelopes.get(id, context.interrupt.signal);
  refuseUnless(envelope, 'sent', canBeSent);
  const roles = await new TemplateRoles(client, context).ifShown(envelope.templateId);
  const warnings = await problemTexts(
    findProblems(envelope.signers ?? [], roles),
    allowMissingRoles,
    context,
  );
  return {
    would: {
      action: 'send',
      effect: 'mails',
      remarks: warnings,
      envelope: brief(envelope, envelope.signers),
    },
    writes: [{ action: 'send', envelopeId: id }],
    act: () =>
      runUninterrupted(id, 'sent', context, () => sendEnvelope(client, id, context.interrupt.signal)),
  };
}

export async function planCancel(
  id: string,
  reason: string | undefined,
  context: Context,
): Promise<PlannedCall> {
  const client = await context.session.client();
  const envelope = await client.envelopes.get(id, context.interrupt.signal);
  refuseUnless(envelope, 'canceled', (status) => isCancellable(status, false));
  return {
    would: { action: 'cancel', effect: 'mails', remarks: [], envelope: brief(envelope, envelope.signers) },
    writes: [{ action: 'cancel', envelopeId: id }],
    act: () =>
      runUninterrupted(id, 'canceled', context, () =>
        cancelEnvelope(client, id, reason, context.interrupt.signal),
      ),
  };
}

export async function planRemind(
  wanted: { id: string; signer: string | undefined; gapMs: number },
  context: Context,
): Promise<PlannedCall> {
  const { id, signer, gapMs } = wanted;
  const client = await context.session.client();
  const envelope = await client.envelopes.get(id, context.interrupt.signal);
  refuseUnless(envelope, 'reminded', canBeReminded);
  const recent = await RecentReminders.read(signer, context);
  const asked = signer === undefined ? open(envelope) : signersNamed(envelope, signer);
  const remind = async () => {
    let acted: { envelope: Envelope } | undefined;
    await withReminderLog(context, { required: gapMs > 0 }, async (log) => {
      acted = await remindWithGap(client, log, wanted, context.interrupt.signal);
    });
    return acted ?? { envelope };
  };
  return {
    would: {
      action: 'remind',
      effect: 'mails',
      remarks: recent?.of(id) ?? [],
      envelope: brief(envelope, asked),
    },
    writes: [{ action: 'remind', envelopeId: id, signer }],
    act: () => runUninterrupted(id, 'reminded', context, remind),
  };
}

export async function planReplace(id: string, flags: ReplaceFlags, context: Context): Promise<PlannedCall> {
  const plan = await checkedPlan(id, flags, context);
  const { old, made, wanted, signers, steps } = plan;
  const isKept = (await keptSecretOf(id, context)) !== undefined;
  const notes = made === undefined ? notesOn(old, signers, { wanted, isKept }) : [];
  const { webhookSecret: _, ...body } = wanted;
  return {
    would: {
      action: `replace: ${steps.join(', ') || 'nothing left to do'}`,
      effect: flags.draft ? 'writes' : 'mails',
      remarks: [costOf(plan), ...notes],
      envelope: { old: brief(old, old.signers), new: body },
    },
    writes: writesOf(plan),
    act: () => replaceEnvelope(id, flags, context),
  };
}

/** Throws early for a known status that the service would refuse. */
function refuseUnless(envelope: Envelope, verb: string, can: (status: string) => boolean): void {
  const status = envelope.status ?? '';
  if (can(status)) return;
  throw new ServiceError('INVALID_STATE', `${envelope.id} is ${status} and can't be ${verb}.`, {
    status: 400,
  });
}

async function problemTexts(
  problems: ReturnType<typeof findProblems>,
  allowMissing: boolean,
  context: Context,
): Promise<string[]> {
  await confirmProblems(
    problems,
    { allowMissing, asks: false, question: '', otherwise: 'nothing was done' },
    context,
  );
  return problems.map(({ text }) => text);
}

/** Runs a write with a grace period, and adds a hint if its outcome is unknown. */
async function runUninterrupted(
  id: string,
  done: string,
  context: Context,
  act: () => Promise<{ envelope: Envelope }>,
): Promise<Envelope> {
  const write = {
    unknown: () => `Quit before the service responded. ${id} may or may not have been ${done}.`,
    hint: () => `Check the status of ${id} before you retry.`,
  };
  return (await withOutcomeCheck(write, context, act)).envelope;
}

function open({ signers }: Envelope): Signer[] {
  return (signers ?? []).filter(({ status }) => status !== 'SIGNED' && status !== 'DECLINED');
}

/** Returns the fields that identify an envelope, and its signers. */
function brief(envelope: Envelope, signers: readonly (Party & Signer)[] | null | undefined) {
  const { id, status, subject, templateName, signingOrder, expiresAt } = envelope;
  const people = (signers ?? []).map(({ name, email, role, order }) => ({ name, email, role, order }));
  return { id, status, subject, templateName, signingOrder, expiresAt, signers: people };
}
