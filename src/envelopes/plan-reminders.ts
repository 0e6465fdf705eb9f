import type { Client } from '../api/client.ts';
import type { Envelope, Signer } from '../api/resource-types.ts';
import type { WriteIdentity } from '../api/write-identity.ts';
import { findSigners, signersNamed } from '../catalog/named-signer.ts';
import { areTurnsKnown, whoseTurn } from '../catalog/turns.ts';
import { durationInWords, HOUR_MS } from '../kernel/duration.ts';
import { NothingToDoError, SupersededError, UnknownOutcomeError } from '../kernel/errors.ts';
import { halfwayError } from '../kernel/halfway-error.ts';
import { canBeReminded, hasDeclined, isInFlight, isPending } from '../kernel/statuses.ts';
import { addressOf } from '../kernel/text/person.ts';
import { remindKey } from '../log/write-keys.ts';
import { remindEnvelope } from '../once/actions/remind-envelope.ts';
import type { ActionResult } from '../once/actions/send-or-cancel.ts';
import { dueTurns, type ReminderSteps } from './due-reminders.ts';
import type { Concern } from './envelope-problems.ts';
import {
  type ActionContext,
  type ActionReport,
  type EnvelopeAction,
  planOrRefuse,
  type RefusedPlan,
  refuseForStatus,
  type SkippedPlan,
  type WritePlan,
} from './plan-writes.ts';
import { REMINDER_GAP, SentReminders } from './sent-reminders.ts';

export interface RemindOptions {
  /** Returns the signers to remind, by ID or address; undefined for all whose turn it is. */
  signersOf: (id: string) => readonly string[] | undefined;
  /** Skips signers who were reminded within this time (ms). */
  gapMs: number | undefined;
  /** Reminds a signer once at each of these times after the turn began, such as after 3 and 7 days. */
  at?: ReminderSteps | undefined;
  /** Lets the user confirm another reminder within the hour. */
  reportsRecent: boolean;
}

/** A reminder sent within this time is reported before another one. */
const RECENT_MS = HOUR_MS;

/** Someone to remind, unless the log on this machine has a reminder at `since` (ms, service clock) or later. */
interface Due {
  signer: Signer;
  since: number;
}

/**
 * Reminds the signers whose turn it is, or those who are named. The log on this machine decides who was reminded; a reminder whose
 * outcome isn't known counts as sent.
 */
export function remindAction(means: ActionContext, options: RemindOptions): EnvelopeAction {
  let reading: Promise<SentReminders> | undefined;
  const timesNow = async () =>
    new SentReminders(await means.readReminders(), means.client.serviceClock.now());
  const readTimes = () => (reading ??= timesNow());
  const plan = async (envelope: Envelope) => {
    const { id, status } = envelope;
    if (options.at !== undefined && !isInFlight(status)) return notOpen(`${id} is ${status ?? 'unknown'}.`);
    if (options.at !== undefined && !envelope.sentAt)
      return notOpen(`The service doesn't return when ${id} was sent.`);
    const answered = skipAnswered(envelope, options.signersOf(id));
    if (answered !== undefined) return answered;
    if (status && !canBeReminded(status)) return refuseForStatus(envelope, 'reminded');
    return planReminder(envelope, await readTimes(), means, options);
  };
  return {
    name: 'remind',
    done: 'reminded',
    async plan(id, known) {
      const shown = known && areTurnsKnown(known) ? known : undefined;
      const planned = await planOrRefuse(id, shown, means, plan);
      // A list may be a minute old, so an envelope is read again before a reminder.
      return shown && planned.kind === 'execute' ? planOrRefuse(id, undefined, means, plan) : planned;
    },
  };
}

function planReminder(
  envelope: Envelope,
  times: SentReminders,
  { client, signal }: ActionContext,
  options: RemindOptions,
): WritePlan | RefusedPlan | SkippedPlan {
  const { id } = envelope;
  const now = client.serviceClock.now();
  const named = options.signersOf(id);
  const asked = askedNow(envelope, named, options, now);
  const isReminded = ({ signer, since }: Due) => (times.lastOf(id, signer)?.at ?? -Infinity) >= since;
  const left = asked.filter((one) => !isReminded(one));
  if (asked.length > 0 && left.length === 0) return skipRemindedRecently(id, asked, times, options, now);
  const pending = (envelope.signers ?? []).filter(isPending);
  // A step is for one signer, whom only an ID names for certain.
  const isNamed = ({ signer }: Due) => options.at === undefined || Boolean(signer.id) || pending.length === 1;
  const due = left.filter(isNamed);
  const unnamed = left.filter((one) => !isNamed(one)).map(({ signer }) => notRemindedText(id, signer));
  if (options.at !== undefined && due.length === 0) return unnamed[0] ? notOpen(unnamed[0]) : notDue(id);
  const start = gapStart(options, now);
  // Without a signer, the service reminds every pending signer, whoever's turn it is (API document, Remind).
  const lacksIds = due.every(({ signer }) => !signer.id);
  const isNobodyReminded = !pending.some((signer) => isReminded({ signer, since: start }));
  const isForAll =
    options.at === undefined
      ? named === undefined && (due.length === pending.length || (lacksIds && isNobodyReminded))
      : lacksIds;
  const since = Math.min(start, ...due.map((one) => one.since));
  const requests: ReminderRequest[] = isForAll
    ? [{ signerId: undefined, signers: due.map(({ signer }) => signer), since }]
    : due.map((one) => ({ signerId: idOf(one.signer), signers: [one.signer], since: one.since }));
  return {
    kind: 'execute',
    signers: due.map(({ signer }) => signer),
    writes: requests.map(({ signerId }) => ({ action: 'remind', envelopeId: id, signer: signerId })),
    notes: [...answeredTexts(envelope, named), ...unnamed],
    concerns: options.reportsRecent ? asked.flatMap((one) => remindedWithinHour(id, one, times, now)) : [],
    execute: () => sendReminders(client, envelope, requests, now, signal),
  };
}

/** Returns who is asked to sign now, or those of them for whom a step is due. */
function askedNow(
  envelope: Envelope,
  named: readonly string[] | undefined,
  options: RemindOptions,
  now: number,
): Due[] {
  // An ID and an address may name the same signer.
  const wanted = named && new Set(named.flatMap((one) => signersNamed(envelope, one)).filter(isPending));
  const since = gapStart(options, now);
  if (options.at === undefined)
    return [...(wanted ?? whoseTurn(envelope))].map((signer) => ({ signer, since }));
  return dueTurns(envelope, options.at, now)
    .filter(({ signer }) => wanted === undefined || wanted.has(signer))
    .map(({ signer, dueAt }) => ({ signer, since: Math.min(dueAt, since) }));
}

/** Returns the time since when a reminder is too recent for another one; `Infinity` without a gap. */
function gapStart({ gapMs = 0 }: RemindOptions, now: number): number {
  return gapMs > 0 ? now - gapMs : Number.POSITIVE_INFINITY;
}

function remindedWithinHour(id: string, { signer }: Due, times: SentReminders, now: number): Concern[] {
  const ago = now - (times.lastOf(id, signer)?.at ?? -Infinity);
  return ago > RECENT_MS ? [] : [{ text: `${addressOf(signer)} was reminded ${durationInWords(ago)} ago.` }];
}

interface ReminderRequest {
  /** Undefined for everyone who has not signed. */
  signerId: string | undefined;
  /** Those whom it is about. */
  signers: readonly Signer[];
  /** An earlier reminder at this time or later makes it unnecessary. */
  since: number;
}

/**
 * Sends each reminder. Those whom another process has reminded in the meantime are left out. `now`: the service's time at which they
 * were due. It is at or after each `since`, whatever the clocks do later.
 */
async function sendReminders(
  client: Client,
  { id, signers: all }: Envelope,
  requests: readonly ReminderRequest[],
  now: number,
  signal: AbortSignal,
): Promise<ActionReport> {
  const keyOf = (signerId: string | undefined) => remindKey(client.baseUrl, id, signerId);
  const keysOfSigners = (all ?? []).map((one) => keyOf(idOf(one)));
  let acted: ActionResult | undefined;
  const reminded: Signer[] = [];
  for (const [index, { signerId, signers, since }] of requests.entries()) {
    const otherKeys = signerId === undefined ? keysOfSigners : [keyOf(undefined)];
    const once: WriteIdentity = { key: keyOf(signerId), otherKeys, since, serviceAt: now };
    try {
      signal.throwIfAborted();
      acted = await remindEnvelope(client, id, signerId, { signal, once });
      reminded.push(...signers);
    } catch (error) {
      if (error instanceof SupersededError) continue;
      if (acted === undefined || error instanceof UnknownOutcomeError) throw error;
      const left = requests.slice(index).flatMap((one) => one.signers);
      throw remindedSome(error, id, { reminded, left }, signal);
    }
  }
  if (acted !== undefined) return { ...acted, signers: reminded };
  throw new NothingToDoError('REMINDED_RECENTLY', `Another process has just reminded the signers of ${id}.`);
}

/** Describes the named signers who have signed or declined, such as since a list of late ones was made. */
function answeredTexts(envelope: Envelope, named: readonly string[] = []): string[] {
  const signers = new Set(named.flatMap((one) => findSigners(envelope, one)));
  return [...signers]
    .filter((one) => !isPending(one))
    .map(
      (one) => `${addressOf(one)} has already ${hasDeclined(one) ? 'declined' : 'signed'} ${envelope.id}.`,
    );
}

/** Skips an envelope if every signer who is named has signed or declined. */
function skipAnswered(envelope: Envelope, named: readonly string[] = []): SkippedPlan | undefined {
  const isAnswered = (signers: readonly Signer[]) => signers.length > 0 && !signers.some(isPending);
  if (named.length === 0 || !named.every((one) => isAnswered(findSigners(envelope, one)))) return undefined;
  const text = answeredTexts(envelope, named).join(' ');
  return { kind: 'skip', reason: new NothingToDoError('NOT_PENDING', text) };
}

function notOpen(text: string): SkippedPlan {
  return { kind: 'skip', reason: new NothingToDoError('NOT_OPEN', text) };
}

function notRemindedText(id: string, { email }: Signer): string {
  return `${email ?? 'A signer'} was not reminded: the service doesn't return the IDs of the signers of ${id}.`;
}

function notDue(id: string): SkippedPlan {
  return { kind: 'skip', reason: new NothingToDoError('NOT_DUE', `No reminder is due for ${id}.`) };
}

function skipRemindedRecently(
  id: string,
  asked: readonly Due[],
  times: SentReminders,
  { gapMs = 0, at }: RemindOptions,
  now: number,
): SkippedPlan {
  if (at !== undefined) return notDue(id);
  const last = asked.map(({ signer }) => {
    const at = times.lastOf(id, signer)?.at ?? now;
    return `${addressOf(signer)}, ${durationInWords(Math.max(0, now - at))} ago`;
  });
  const text = `The signers of ${id} were reminded within the last ${durationInWords(gapMs)}: ${last.join('; ')}.`;
  const hint = 'Nothing was sent. To send another reminder, use a shorter --min-gap.';
  return { kind: 'skip', reason: new NothingToDoError('REMINDED_RECENTLY', text, { hint }) };
}

/** Services without signer IDs may accept an address. */
function idOf({ id, email }: Signer): string {
  return id || email || '';
}

function remindedSome(
  error: unknown,
  id: string,
  { reminded, left }: { reminded: readonly Signer[]; left: readonly Signer[] },
  signal: AbortSignal,
): unknown {
  const names = (some: readonly Signer[]) => some.map(addressOf).join(', ');
  const state = `For ${id}, a reminder was sent to ${names(reminded)}, but not to ${names(left)}.`;
  const hint = `To skip those who were reminded, add --min-gap ${REMINDER_GAP}.`;
  return halfwayError(error, { state, outcome: 'unknown', hint }, signal);
}
