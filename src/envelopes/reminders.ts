import type { Client } from '../api/client.ts';
import type { Envelope, Signer } from '../api/schemas.ts';
import { Journal } from '../journal/journal.ts';
import type { Clock } from '../kernel/clock.ts';
import { durationInWords } from '../kernel/duration.ts';
import { RemindedRecentlyError, StoppedError, UnknownOutcomeError, UsageError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { privateFolder } from '../kernel/files/files.ts';
import { lockFile } from '../kernel/files/lock.ts';
import { remindEnvelope } from './actions.ts';
import { findSigners, signersNamed, whoseTurn } from './named-signer.ts';
import {
  ALL_PENDING,
  type Reminded,
  type ReminderEntry,
  ReminderTimes,
  readingInto,
  reminderFile,
  UNKNOWN_SIGNER,
} from './reminder-times.ts';
import type { ActionResult } from './settle.ts';

/** How long another process may have the log before we give up, in ms. */
const PATIENCE_MS = 30_000;
/** Longer than any request takes. */
const OTHER_CLOCK_MS = 5 * 60_000;
const OVER = new Set(['SIGNED', 'DECLINED', 'COMPLETED']);

/** Who was reminded when, kept on this machine: the service does not tell. One process writes it at a time. */
export class ReminderLog {
  readonly #account: string;
  readonly #now: () => number;
  readonly #journal: Journal<ReminderEntry>;
  readonly #release: () => Promise<void>;
  readonly #times: ReminderTimes;

  private constructor(
    journal: Journal<ReminderEntry>,
    times: ReminderTimes,
    release: () => Promise<void>,
    account: string,
    now: () => number,
  ) {
    this.#journal = journal;
    this.#times = times;
    this.#release = release;
    this.#account = account;
    this.#now = now;
  }

  /**
   * Opens the log in the folder for the account (a base URL). `now` is the service's time: by the machine's, a gap would
   * be as wrong as its clock.
   * @throws UsageError when another process has it or it can't be written.
   */
  static async open(folder: string, account: string, clock: Clock, now: () => number): Promise<ReminderLog> {
    const path = reminderFile(folder);
    const release = await takeTurn(folder, `${path}.lock`, clock);
    try {
      const times = new ReminderTimes(account);
      const journal = await Journal.open(readingInto(times, folder), (entry) => times.take(entry));
      return new ReminderLog(journal, times, release, account, now);
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** The last reminder of the envelope that the signer had, or may have had. */
  lastOf(envelopeId: string, email: string): Reminded | undefined {
    return this.#times.lastOf(envelopeId, email);
  }

  /**
   * Notes a reminder before `mail` asks for it, and takes the note back when certainly none went out. Where the reply is the
   * first to tell the service's time and that is another, it is noted once more.
   */
  async noting<T>(envelopeId: string, email: string | undefined, mail: () => Promise<T>): Promise<T> {
    const signer = email?.toLowerCase() ?? ALL_PENDING;
    const note = { envelopeId, signer, state: 'asked' } as const;
    const asked = this.#now();
    await this.#append(note);
    try {
      const value = await mail();
      if (Math.abs(this.#now() - asked) > OTHER_CLOCK_MS) await this.#append(note);
      return value;
    } catch (error) {
      // remindEnvelope tells by this error, and no other, that a mail may have gone out.
      if (!(error instanceof UnknownOutcomeError))
        await this.#append({ envelopeId, signer, state: 'refused' });
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#journal.close();
    await this.#release();
  }

  async #append(entry: Pick<ReminderEntry, 'envelopeId' | 'signer' | 'state'>): Promise<void> {
    const whole = { at: this.#now(), account: this.#account, ...entry };
    await this.#journal.append(whole);
    this.#times.take(whole);
  }
}

/** Waits for another process that has the log. */
async function takeTurn(folder: string, path: string, clock: Clock): Promise<() => Promise<void>> {
  const busy = (pid: string) =>
    new UsageError(`Another esign (process ${pid}) is sending reminders.`, {
      hint: 'Try again when it is done.',
    });
  try {
    await privateFolder(folder);
    return await lockFile(path, busy, { waitMs: PATIENCE_MS, clock });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`The log of reminders ${path} can't be written: ${diskReason(error)}.`, {
      cause: error,
      hint: 'Mend the folder it is in, or leave out --min-gap.',
    });
  }
}

export interface ReminderResult extends ActionResult {
  /** The signers who were emailed. */
  reminded: readonly Signer[];
}

/**
 * Reminds the pending signers of the envelope who were not reminded within the gap (ms), or the one signer that is named.
 * @throws RemindedRecentlyError when everybody was.
 */
export async function remindWithGap(
  client: Client,
  log: ReminderLog | undefined,
  wanted: { id: string; signer?: string | undefined; gapMs: number },
  signal?: AbortSignal,
): Promise<ReminderResult> {
  const { id, signer, gapMs } = wanted;
  const remind = () => remindEnvelope(client, id, signer, signal);
  if (log === undefined || (gapMs <= 0 && signer === undefined)) {
    const acted = await (log === undefined ? remind() : log.noting(id, undefined, remind));
    return { ...acted, reminded: namedOrNext(acted.envelope, signer) };
  }
  // The log has addresses; the signer may be named by ID.
  const envelope = await client.envelopes.get(id, signal);
  const pending = pendingOf(envelope, signer);
  const tooSoon = (one: Signer) => {
    const last = log.lastOf(id, one.email ?? one.id ?? '');
    return gapMs > 0 && last !== undefined && client.serviceClock.now() - last.at < gapMs;
  };
  const due = pending.filter((one) => !tooSoon(one));
  if (pending.length > 0 && due.length === 0)
    throw recently(log, id, pending, gapMs, client.serviceClock.now());
  if (due.length === pending.length && signer === undefined) {
    const acted = await log.noting(id, undefined, remind);
    return { ...acted, reminded: due };
  }
  let acted: ActionResult = { envelope, by: 'reply' };
  for (const [index, one] of due.entries()) {
    if (index > 0 && signal?.aborted) throw stoppedBefore(id, due, index);
    acted = await log.noting(id, one.email ?? one.id ?? undefined, () =>
      remindEnvelope(client, id, one.id ?? one.email ?? '', signal),
    );
  }
  return { ...acted, reminded: due };
}

/** Returns the signers who are named, or those whose turn it is; none where the reply left the signers out. */
function namedOrNext(envelope: Envelope, signer: string | undefined): Signer[] {
  if (signer === undefined) return whoseTurn(envelope);
  return findSigners(envelope, signer);
}

/** Some were mailed already: that must be said. */
function stoppedBefore(id: string, due: readonly Signer[], index: number): StoppedError {
  const names = (signers: readonly Signer[]) => signers.map((one) => one.email ?? one.id).join(', ');
  return new StoppedError(
    'INTERRUPTED',
    `Stopped: of ${id}, ${names(due.slice(0, index))} had the reminder, ${names(due.slice(index))} had not.`,
  );
}

function pendingOf(envelope: Envelope, signer: string | undefined): Signer[] {
  if (signer === undefined) return whoseTurn(envelope).filter((one) => !OVER.has(one.status ?? ''));
  return signersNamed(envelope, signer);
}

function recently(
  log: ReminderLog,
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
    known && `Reminded already, within the gap of ${durationInWords(gapMs)}: ${known} of ${id}.`,
    unknown && `A line of the reminder log is damaged. It may have been a reminder to ${unknown} of ${id}.`,
  ];
  return new RemindedRecentlyError(sentences.filter(Boolean).join(' '), {
    hint: 'Nothing was sent. To send another reminder, use a shorter --min-gap.',
  });
}
