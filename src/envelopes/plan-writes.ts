import type { Client } from '../api/client.ts';
import type { Envelope, Signer } from '../api/schemas.ts';
import type { PlannedWrite } from '../api/write-gate.ts';
import { listed } from '../kernel/duration.ts';
import { ifFound, isNotFound, type RemindedRecentlyError, ServiceError } from '../kernel/errors.ts';
import { nameOf } from '../kernel/text/person.ts';
import {
  canBeCanceled,
  canBeReminded,
  canBeSent,
  hasDeclined,
  hasSigned,
  isPending,
  isTerminal,
} from '../kernel/vocabulary.ts';
import type { LoggedWrite } from '../log/logged-write.ts';
import type { WriteMemory } from '../log/write-memory.ts';
import { type EnvelopeProblem, findProblems, type KnownRoles, NO_ROLES } from './completeness.ts';
import { findSigners, signersNamed, whoseTurn } from './named-signer.ts';
import { ReminderTimes, recentReminders } from './reminder-times.ts';
import { type ActionReport, findDue, remindWithGap } from './reminders.ts';
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
  /** Returns the writes, for the guards. */
  writesFor(envelopeId: string): PlannedWrite[];
  /** Returns the signers whom the action is about. */
  signersOf(envelope: Envelope): readonly Signer[];
  /** Finds what the user has to confirm. `read` is called if the envelope matters; it returns undefined if the key can't read it. */
  findProblems(id: string, read: () => Promise<Envelope | undefined>): Promise<EnvelopeProblem[]>;
  /** Returns why nothing needs to be done for the envelope. Undefined for actions that never skip one. */
  findSkip?: ((envelope: Envelope) => Promise<RemindedRecentlyError | undefined>) | undefined;
  /** Runs `work`, which can execute the action for any number of envelopes. */
  run<T>(work: (execute: (id: string) => Promise<ActionReport>) => Promise<T>): Promise<T>;
}

export interface ActionContext {
  client: Client;
  signal: AbortSignal;
  rolesOf: (templateId: string) => Promise<KnownRoles>;
  /** The log of writes of this machine. */
  memory: WriteMemory;
  /** Reads the reminders in it. */
  readReminders: () => Promise<LoggedWrite[]>;
}

export function sendAction({ client, signal, rolesOf }: ActionContext): EnvelopeAction {
  return {
    name: 'send',
    done: 'sent',
    isPossible: canBeSent,
    writesFor: (envelopeId) => [{ action: 'send', envelopeId }],
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

interface CancelOptions {
  reason: string | undefined;
  evenIfDeclined: boolean;
  /** The user has confirmed that signatures are lost. */
  yes?: boolean;
}

export function cancelAction(
  { client, signal }: ActionContext,
  { reason, evenIfDeclined, yes = false }: CancelOptions,
): EnvelopeAction {
  return {
    name: 'cancel',
    done: 'canceled',
    isPossible: (status) => canBeCanceled(status, evenIfDeclined),
    writesFor: (envelopeId) => [{ action: 'cancel', envelopeId }],
    signersOf: ({ signers }) => signers ?? [],
    async findProblems(id, read) {
      const envelope = evenIfDeclined && yes ? undefined : await read();
      if (envelope !== undefined && !isTerminal(envelope.status ?? '')) return signedProblems(envelope);
      if (envelope?.status !== 'DECLINED' || evenIfDeclined) return [];
      const decliner = envelope.signers?.find(hasDeclined);
      const by = decliner ? ` by ${nameOf(decliner)}` : '';
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

function signedProblems({ id, signers }: Envelope): EnvelopeProblem[] {
  const signed = (signers ?? []).filter(hasSigned).map(({ name, email }) => name || email || 'a signer');
  if (signed.length === 0) return [];
  const text = `${listed(signed)} ${signed.length === 1 ? 'has' : 'have'} already signed ${id}.`;
  return [{ weight: 'destructive', text }];
}

interface RemindOptions {
  /** Returns the signers to remind, by ID or address; undefined for all whose turn it is. */
  signersOf: (id: string) => readonly string[] | undefined;
  gapMs: number;
  /** Reports reminders of the last hour. */
  reportsRecent: boolean;
}

export function remindAction(
  { client, signal, memory, readReminders }: ActionContext,
  { signersOf, gapMs, reportsRecent }: RemindOptions,
): EnvelopeAction {
  let reading: Promise<ReminderTimes | undefined> | undefined;
  // If the log can't be read, no warning is shown.
  const readTimes = () => {
    reading ??= readReminders().then(
      (writes) => new ReminderTimes(writes),
      () => undefined,
    );
    return reading;
  };
  return {
    name: 'remind',
    done: 'reminded',
    isPossible: canBeReminded,
    writesFor: (envelopeId) =>
      (signersOf(envelopeId) ?? [undefined]).map((signer) => ({ action: 'remind', envelopeId, signer })),
    signersOf: (envelope) =>
      signersOf(envelope.id)?.flatMap((signer) => signersNamed(envelope, signer)) ??
      (envelope.signers ?? []).filter(isPending),
    async findProblems(id, read) {
      if (!reportsRecent) return [];
      const times = await readTimes();
      if (!times?.lastOf(id)) return [];
      // Reminders are dated by the service's clock, which only a response shows.
      const envelope = (await read().catch(() => undefined)) ?? { id };
      const [signer, ...others] = signersOf(id) ?? [];
      const [one] = signer === undefined || others.length > 0 ? [] : findSigners(envelope, signer);
      const texts = recentReminders(times, envelope, one?.id ?? undefined, client.serviceClock.now());
      return texts.map((text) => ({ weight: 'odd', text }));
    },
    findSkip:
      gapMs <= 0
        ? undefined
        : async (envelope) => {
            const times = await readTimes();
            const reminder = { id: envelope.id, signers: signersOf(envelope.id), gapMs };
            return times && findDue(times, envelope, reminder, client.serviceClock.now()).skip;
          },
    run: (work) => work((id) => remindWithGap(client, memory, { id, signers: signersOf(id), gapMs }, signal)),
  };
}

export interface PlannedAction {
  id: string;
  /** Undefined if it doesn't exist. */
  envelope: Envelope | undefined;
  refusal: ServiceError | undefined;
  /** Why nothing needs to be done. */
  skip: RemindedRecentlyError | undefined;
  problems: readonly EnvelopeProblem[];
}

/** Plans an action on an envelope, which is read unless `known` contains it. */
export async function planAction(
  { done, isPossible, findProblems: problemsOf, findSkip }: EnvelopeAction,
  id: string,
  { client, signal }: Pick<ActionContext, 'client' | 'signal'>,
  known?: ReadonlyMap<string, Envelope>,
): Promise<PlannedAction> {
  try {
    const envelope = known?.get(id) ?? (await client.envelopes.get(id, signal));
    const status = envelope.status ?? '';
    if (isPossible(status)) {
      const skip = await findSkip?.(envelope);
      const problems = skip === undefined ? await problemsOf(id, async () => envelope) : [];
      return { id, envelope, refusal: undefined, skip, problems };
    }
    const message = `${id} is ${status} and can't be ${done}.`;
    return {
      id,
      envelope,
      refusal: new ServiceError('INVALID_STATE', message, { status: 400 }),
      skip: undefined,
      problems: [],
    };
  } catch (refusal) {
    if (!isNotFound(refusal)) throw refusal;
    return { id, envelope: undefined, refusal, skip: undefined, problems: [] };
  }
}
