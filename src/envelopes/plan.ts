import type { Client } from '../api/client.ts';
import type { Envelope, Signer } from '../api/schemas.ts';
import type { PlannedWrite } from '../api/write-gate.ts';
import { ifFound, isNotFound, ServiceError } from '../kernel/errors.ts';
import { canBeCanceled, canBeReminded, canBeSent, hasDeclined, isPending } from '../kernel/vocabulary.ts';
import { type EnvelopeProblem, findProblems, type KnownRoles, NO_ROLES } from './completeness.ts';
import { signersNamed, whoseTurn } from './named-signer.ts';
import { type ReminderTimes, readReminderTimes, recentReminders } from './reminder-times.ts';
import { type ActionReport, type ReminderPlace, remindWithGap, withReminderLog } from './reminders.ts';
import { cancelEnvelope, sendEnvelope } from './write-outcome.ts';

/**
 * An action on existing envelopes. The command, its dry run, its confirmation, and the MCP tool all plan and run it with these
 * functions.
 */
export interface EnvelopeAction {
  name: 'send' | 'cancel' | 'remind';
  /** The past participle, as in "can't be sent". */
  done: 'sent' | 'canceled' | 'reminded';
  /** Returns false for a status in which the service refuses the action. */
  isPossible(status: string): boolean;
  /** Returns the write, for the guards. */
  writeFor(envelopeId: string): PlannedWrite;
  /** Returns the signers whom the action is about. */
  signersOf(envelope: Envelope): readonly Signer[];
  /** Finds what the user has to confirm. `read` is called if the envelope matters; it returns undefined if the key can't read it. */
  findProblems(id: string, read: () => Promise<Envelope | undefined>): Promise<EnvelopeProblem[]>;
  /** Runs `work`, which can execute the action for any number of envelopes. */
  run<T>(work: (execute: (id: string) => Promise<ActionReport>) => Promise<T>): Promise<T>;
}

export interface ActionContext {
  client: Client;
  signal: AbortSignal;
  rolesOf: (templateId: string) => Promise<KnownRoles>;
  reminders: ReminderPlace;
}

export function sendAction({ client, signal, rolesOf }: ActionContext): EnvelopeAction {
  return {
    name: 'send',
    done: 'sent',
    isPossible: canBeSent,
    writeFor: (envelopeId) => ({ action: 'send', envelopeId }),
    signersOf: ({ signers }) => signers ?? [],
    async findProblems(_, read) {
      const envelope = await read();
      // For other statuses, the service's error explains why the envelope can't be sent.
      if (envelope?.status !== 'DRAFT' || !envelope.signers) return [];
      const { templateId, signers } = envelope;
      const roles = templateId ? await ifFound(rolesOf(templateId)) : undefined;
      return findProblems(signers, roles ?? NO_ROLES);
    },
    run: (work) =>
      work(async (id) => {
        const sent = await sendEnvelope(client, id, signal);
        return { ...sent, signers: whoseTurn(sent.envelope) };
      }),
  };
}

export function cancelAction(
  { client, signal }: ActionContext,
  { reason, evenIfDeclined }: { reason: string | undefined; evenIfDeclined: boolean },
): EnvelopeAction {
  return {
    name: 'cancel',
    done: 'canceled',
    isPossible: (status) => canBeCanceled(status, evenIfDeclined),
    writeFor: (envelopeId) => ({ action: 'cancel', envelopeId }),
    signersOf: ({ signers }) => signers ?? [],
    async findProblems(id, read) {
      const envelope = evenIfDeclined ? undefined : await read();
      if (envelope?.status !== 'DECLINED') return [];
      const decliner = envelope.signers?.find(hasDeclined);
      const by = decliner ? ` by ${decliner.name || decliner.email || 'a signer'}` : '';
      const text = `${id} was declined${by}. If you cancel it, its status no longer shows that.`;
      return [{ weight: 'incomplete', text }];
    },
    run: (work) =>
      work(async (id) => {
        const canceled = await cancelEnvelope(client, id, reason, signal);
        return { ...canceled, signers: canceled.envelope.signers ?? [] };
      }),
  };
}

interface RemindOptions {
  signer: string | undefined;
  gapMs: number;
  /** Reports reminders of the last hour. */
  reportsRecent: boolean;
}

export function remindAction(
  { client, signal, reminders }: ActionContext,
  { signer, gapMs, reportsRecent }: RemindOptions,
): EnvelopeAction {
  let reading: Promise<ReminderTimes | undefined> | undefined;
  let firstRead: Promise<unknown> | undefined;
  return {
    name: 'remind',
    done: 'reminded',
    isPossible: canBeReminded,
    writeFor: (envelopeId) => ({ action: 'remind', envelopeId, signer }),
    signersOf: (envelope) =>
      signer === undefined ? (envelope.signers ?? []).filter(isPending) : signersNamed(envelope, signer),
    async findProblems(id, read) {
      if (!reportsRecent) return [];
      // If the log can't be read, no warning is shown.
      reading ??= readReminderTimes(reminders.folder, reminders.account).catch(() => undefined);
      const times = await reading;
      const email = signer?.includes('@') ? signer : undefined;
      if (!times?.lastOf(id, email)) return [];
      // Reminders are dated by the service's clock, which only a response shows.
      firstRead ??= read().catch(() => undefined);
      await firstRead;
      const texts = recentReminders(times, id, email, client.serviceClock.now());
      return texts.map((text) => ({ weight: 'odd', text }));
    },
    run: (work) =>
      withReminderLog(reminders, { required: gapMs > 0 }, (log) =>
        work((id) => remindWithGap(client, log, { id, signer, gapMs }, signal)),
      ),
  };
}

export interface PlannedAction {
  id: string;
  /** Undefined if it doesn't exist. */
  envelope: Envelope | undefined;
  refusal: ServiceError | undefined;
  problems: readonly EnvelopeProblem[];
}

/** Plans an action on an envelope, which is read unless `known` contains it. */
export async function planAction(
  { done, isPossible, findProblems: problemsOf }: EnvelopeAction,
  id: string,
  { client, signal }: Pick<ActionContext, 'client' | 'signal'>,
  known?: ReadonlyMap<string, Envelope>,
): Promise<PlannedAction> {
  try {
    const envelope = known?.get(id) ?? (await client.envelopes.get(id, signal));
    const status = envelope.status ?? '';
    if (isPossible(status))
      return { id, envelope, refusal: undefined, problems: await problemsOf(id, async () => envelope) };
    const message = `${id} is ${status} and can't be ${done}.`;
    return {
      id,
      envelope,
      refusal: new ServiceError('INVALID_STATE', message, { status: 400 }),
      problems: [],
    };
  } catch (refusal) {
    if (!isNotFound(refusal)) throw refusal;
    return { id, envelope: undefined, refusal, problems: [] };
  }
}
