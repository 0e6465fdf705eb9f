import { join } from 'node:path';
import * as z from 'zod/mini';
import { type JournalReading, scan } from '../journal/scan.ts';
import { durationInWords } from '../kernel/duration.ts';
import { RECENT_REMINDER_MS } from './defaults.ts';

const entrySchema = z.object({
  /** ms since the epoch */
  at: z.number(),
  account: z.string(),
  envelopeId: z.string(),
  /** An address, or `*` for all pending signers. */
  signer: z.string(),
  /** `asked` is written before the request; `refused` revokes it if nothing was sent. */
  state: z.enum(['asked', 'refused']),
});
export type ReminderEntry = z.infer<typeof entrySchema>;

const REMINDER_FORMAT = {
  kind: 'reminders',
  version: 1,
  read: (value: unknown) => entrySchema.safeParse(value).data,
};

/** Means all pending signers. */
export const ALL_PENDING = '*';

export function reminderFile(folder: string): string {
  return join(folder, 'reminders.jsonl');
}

/** A reminder to one signer, or to everyone who hadn't signed. */
export interface SentReminder {
  signer: string;
  at: number;
}

/** The signer of a damaged line, which may have been a reminder to anyone about any envelope. */
export const UNKNOWN_SIGNER = '?';

/** The reminders of one account (a base URL). */
export class ReminderTimes {
  readonly #account: string;
  /** By envelope and signer, latest last. */
  readonly #times = new Map<string, Map<string, number[]>>();
  #isDamaged = false;
  /** The latest time that a damaged line can have, in ms since the epoch. */
  #damagedAt: number | undefined;

  constructor(account: string) {
    this.#account = account;
  }

  /** A damaged line counts as a reminder of an unknown signer, sent just before the next entry. */
  takeDamaged(): void {
    this.#isDamaged = true;
  }

  take({ account, envelopeId, signer, state, at }: ReminderEntry): void {
    if (this.#isDamaged) this.#damagedAt = Math.max(at, this.#damagedAt ?? at);
    this.#isDamaged = false;
    if (account !== this.#account) return;
    const ofEnvelope = this.#times.get(envelopeId) ?? new Map<string, number[]>();
    const times = ofEnvelope.get(signer) ?? [];
    if (state === 'asked') times.push(at);
    else times.pop();
    this.#times.set(envelopeId, ofEnvelope.set(signer, times));
  }

  /** Returns the last reminder about the envelope; with `email`, the last one that this signer got or may have got. */
  lastOf(envelopeId: string, email?: string): SentReminder | undefined {
    const found = this.since(envelopeId, Number.NEGATIVE_INFINITY, email);
    return found.toSorted((a, b) => b.at - a.at)[0];
  }

  /** Returns the reminders about the envelope since a time; with `email`, only those to this address. */
  since(envelopeId: string, time: number, email?: string): SentReminder[] {
    const own = email?.toLowerCase();
    const damaged = this.#damagedAt === undefined ? [] : [{ signer: UNKNOWN_SIGNER, at: this.#damagedAt }];
    return [...this.#latest(envelopeId), ...damaged].filter(
      ({ signer, at }) =>
        at >= time && (own === undefined || [own, ALL_PENDING, UNKNOWN_SIGNER].includes(signer)),
    );
  }

  /** Returns every reminder about the envelope, earliest first. */
  allOf(envelopeId: string): SentReminder[] {
    return [...(this.#times.get(envelopeId) ?? [])]
      .flatMap(([signer, times]) => times.map((at) => ({ signer, at })))
      .sort((a, b) => a.at - b.at || (a.signer < b.signer ? -1 : 1));
  }

  #latest(envelopeId: string): SentReminder[] {
    return [...(this.#times.get(envelopeId) ?? [])].flatMap(([signer, times]) => {
      const at = times.at(-1);
      return at === undefined ? [] : [{ signer, at }];
    });
  }
}

/** Returns the journal's settings for reading the log in the folder into `times`. */
export function readingInto(times: ReminderTimes, folder: string): JournalReading<ReminderEntry> {
  return {
    path: reminderFile(folder),
    format: REMINDER_FORMAT,
    damaged: 'skip',
    onSkipped: () => times.takeDamaged(),
  };
}

/** Reads the log in the folder, even while another process writes it. */
export async function readReminderTimes(folder: string, account: string): Promise<ReminderTimes> {
  const times = new ReminderTimes(account);
  await scan(readingInto(times, folder), (entry) => times.take(entry));
  return times;
}

/** Returns a sentence for each reminder about the envelope within the last hour. `now` is the service's time in ms. */
export function recentReminders(
  times: ReminderTimes,
  envelopeId: string,
  email: string | undefined,
  now: number,
): string[] {
  return times.since(envelopeId, now - RECENT_REMINDER_MS, email).map(({ signer, at }) => {
    const ago = `${durationInWords(now - at)} ago`;
    if (signer === UNKNOWN_SIGNER)
      return `Someone may have been reminded ${ago}: a line in the reminder log is damaged.`;
    return `${signer === ALL_PENDING ? 'Everyone who had not signed' : signer} was reminded ${ago}.`;
  });
}
