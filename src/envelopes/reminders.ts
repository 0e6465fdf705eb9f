import type { Client } from '../api/client.ts';
import type { Envelope, Signer } from '../api/schemas.ts';
import { Journal } from '../journal/journal.ts';
import type { Clock } from '../kernel/clock.ts';
import { durationInWords } from '../kernel/duration.ts';
import { RemindedRecentlyError, StoppedError, UnknownOutcomeError, UsageError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { privateFolder } from '../kernel/files/files.ts';
import { lockFile } from '../kernel/files/lock.ts';
import { isPending } from '../kernel/vocabulary.ts';
import { signersNamed, whoseTurn } from './named-signer.ts';
import {
  ALL_PENDING,
  type ReminderEntry,
  ReminderTimes,
  readingInto,
  reminderFile,
  UNKNOWN_SIGNER,
} from './reminder-times.ts';
import { type ActionResult, remindEnvelope } from './write-outcome.ts';

/** How long to wait for another process that uses the log, in ms. */
const LOCK_TIMEOUT_MS = 30_000;
/** Longer than any request takes. */
const OTHER_CLOCK_MS = 5 * 60_000;

/** A local log of reminders, because the service doesn't return them. One process writes it at a time. */
type ReminderLog = Awaited<ReturnType<typeof openReminderLog>>;

/**
 * Opens the log in the folder for the account (a base URL). `now` is the service's time, because this machine's clock may be
 * wrong.
 * @throws UsageError if another process is using it, or it can't be written.
 */
export async function openReminderLog(folder: string, account: string, clock: Clock, now: () => number) {
  const path = reminderFile(folder);
  const release = await takeTurn(folder, `${path}.lock`, clock);
  const times = new ReminderTimes(account);
  const opening = Journal.open(readingInto(times, folder), (entry) => times.take(entry));
  const journal = await opening.catch(async (error: unknown) => {
    await release();
    throw error;
  });
  const append = async (entry: Pick<ReminderEntry, 'envelopeId' | 'signer' | 'state'>) => {
    const whole = { at: now(), account, ...entry };
    await journal.append(whole);
    times.take(whole);
  };
  return {
    /** Returns the last reminder about the envelope that the signer got or may have got. */
    lastOf: (envelopeId: string, email: string) => times.lastOf(envelopeId, email),
    /**
     * Records a reminder before `mail` requests it, and revokes the record if it certainly wasn't sent. If the response is the first
     * to show the service's time, and it differs, the reminder is recorded again with that time.
     */
    async noting<T>(envelopeId: string, email: string | undefined, mail: () => Promise<T>): Promise<T> {
      const signer = email?.toLowerCase() ?? ALL_PENDING;
      const note = { envelopeId, signer, state: 'asked' } as const;
      const asked = now();
      await append(note);
      try {
        const value = await mail();
        if (Math.abs(now() - asked) > OTHER_CLOCK_MS) await append(note);
        return value;
      } catch (error) {
        // Only this error of remindEnvelope means that an email may have been sent.
        if (!(error instanceof UnknownOutcomeError)) await append({ envelopeId, signer, state: 'refused' });
        throw error;
      }
    },
    async close(): Promise<void> {
      await journal.close();
      await release();
    },
  };
}

export interface ReminderPlace {
  folder: string;
  /** A base URL. */
  account: string;
  clock: Clock;
  /** Returns the service's time in ms. */
  now: () => number;
  /** Called if the log can't be opened and isn't required. */
  onUnrecorded: (error: UsageError) => void;
}

/** Runs `work` with the reminder log, locked against other processes; without it if it can't be opened and isn't `required`. */
export async function withReminderLog<T>(
  { folder, account, clock, now, onUnrecorded }: ReminderPlace,
  { required }: { required: boolean },
  work: (log: ReminderLog | undefined) => Promise<T>,
): Promise<T> {
  const log = await openReminderLog(folder, account, clock, now).catch((error: unknown) => {
    if (required || !(error instanceof UsageError)) throw error;
    onUnrecorded(error);
    return undefined;
  });
  try {
    return await work(log);
  } finally {
    await log?.close();
  }
}

/** Waits for another process that is using the log. */
async function takeTurn(folder: string, path: string, clock: Clock): Promise<() => Promise<void>> {
  const busy = (pid: string) =>
    new UsageError(`Another esign process (${pid}) is sending reminders.`, {
      hint: 'Run the command again when it has finished.',
    });
  try {
    await privateFolder(folder);
    return await lockFile(path, busy, { waitMs: LOCK_TIMEOUT_MS, clock });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`The reminder log ${path} can't be written: ${diskReason(error)}.`, {
      cause: error,
      hint: 'Make its folder writable, or leave out --min-gap.',
    });
  }
}

export interface ActionReport extends ActionResult {
  /** The signers whom it concerned; for a reminder, those who were emailed. */
  signers: readonly Signer[];
}

interface Reminder {
  id: string;
  /** IDs or addresses; undefined for all whose turn it is. */
  signers?: readonly string[] | undefined;
  gapMs: number;
}

/**
 * Reminds the pending signers who were not reminded within the gap (ms); with `signers`, only those.
 * @throws RemindedRecentlyError if all of them were.
 */
export async function remindWithGap(
  client: Client,
  log: ReminderLog | undefined,
  reminder: Reminder,
  signal?: AbortSignal,
): Promise<ActionReport> {
  const { id, signers, gapMs } = reminder;
  const noting = <T>(email: string | undefined, mail: () => Promise<T>) =>
    log === undefined ? mail() : log.noting(id, email, mail);
  const remindAll = () => noting(undefined, () => remindEnvelope(client, id, undefined, signal));
  if (signers === undefined && (log === undefined || gapMs <= 0)) {
    const acted = await remindAll();
    return { ...acted, signers: whoseTurn(acted.envelope) };
  }
  // The log contains addresses, but the signer may be given by ID.
  const envelope = await client.envelopes.get(id, signal);
  const times = log ?? { lastOf: () => undefined };
  const { due, skip, hasRecent } = findDue(times, envelope, reminder, client.serviceClock.now());
  if (skip !== undefined) throw skip;
  // Without a signer, the service may remind every pending signer, whoever's turn it is (API document, Remind).
  if (signers === undefined && !hasRecent) {
    const acted = await remindAll();
    return { ...acted, signers: due };
  }
  let acted: ActionResult = { envelope, by: 'reply' };
  for (const [index, one] of due.entries()) {
    if (index > 0 && signal?.aborted) throw stoppedBefore(id, due, index);
    acted = await noting(one.email ?? one.id ?? undefined, () =>
      remindEnvelope(client, id, one.id ?? one.email ?? '', signal),
    );
  }
  return { ...acted, signers: due };
}

/**
 * Returns the signers to remind who were not reminded within the gap. `skip`: the reason if all of them were. `hasRecent`: a pending
 * signer was reminded within the gap.
 */
export function findDue(
  times: Pick<ReminderTimes, 'lastOf'>,
  envelope: Envelope,
  { id, signers, gapMs }: Reminder,
  now: number,
): { due: Signer[]; skip: RemindedRecentlyError | undefined; hasRecent: boolean } {
  const pending = signers?.flatMap((one) => signersNamed(envelope, one)) ?? whoseTurn(envelope);
  const tooSoon = (one: Signer) => {
    const last = times.lastOf(id, one.email ?? one.id ?? '');
    return gapMs > 0 && last !== undefined && now - last.at < gapMs;
  };
  const due = pending.filter((one) => !tooSoon(one));
  const isSkipped = pending.length > 0 && due.length === 0;
  return {
    due,
    skip: isSkipped ? recently(times, id, pending, gapMs, now) : undefined,
    hasRecent: (envelope.signers ?? []).some((one) => isPending(one) && tooSoon(one)),
  };
}

function stoppedBefore(id: string, due: readonly Signer[], index: number): StoppedError {
  const names = (signers: readonly Signer[]) => signers.map((one) => one.email ?? one.id).join(', ');
  return new StoppedError(
    'INTERRUPTED',
    `Stopped. For ${id}, a reminder was sent to ${names(due.slice(0, index))}, but not to ${names(due.slice(index))}.`,
  );
}

function recently(
  log: Pick<ReminderTimes, 'lastOf'>,
  id: string,
  pending: readonly Signer[],
  gapMs: number,
  now: number,
): RemindedRecentlyError {
  const last = pending.map((one) => {
    const name = one.email ?? one.id ?? 'a signer';
    const { signer, at } = log.lastOf(id, name) ?? { signer: name, at: now };
    return { text: `${name} (${durationInWords(now - at)} ago)`, isKnown: signer !== UNKNOWN_SIGNER };
  });
  const listOf = (isKnown: boolean) => last.filter((one) => one.isKnown === isKnown).map(({ text }) => text);
  const [known, unknown] = [listOf(true).join(', '), listOf(false).join(', ')];
  const sentences = [
    known && `Already reminded within the last ${durationInWords(gapMs)} for ${id}: ${known}.`,
    unknown &&
      `A line in the reminder log is damaged. A reminder for ${id} may have been sent to ${unknown}.`,
  ];
  return new RemindedRecentlyError(sentences.filter(Boolean).join(' '), {
    hint: 'Nothing was sent. To send another reminder, use a shorter --min-gap.',
  });
}
