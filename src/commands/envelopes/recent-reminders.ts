import type { Context } from '../../cli/context.ts';
import { RECENT_REMINDER_MS } from '../../envelopes/defaults.ts';
import {
  ALL_PENDING,
  type ReminderTimes,
  readReminderTimes,
  UNKNOWN_SIGNER,
} from '../../envelopes/reminder-times.ts';
import { durationInWords } from '../../kernel/duration.ts';
import { stateDir } from '../../kernel/files/paths.ts';

/** Describes reminders that were recently sent from this machine. */
export class RecentReminders {
  readonly #times: ReminderTimes;
  readonly #email: string | undefined;
  readonly #now: () => number;

  private constructor(times: ReminderTimes, email: string | undefined, now: () => number) {
    this.#times = times;
    this.#email = email;
    this.#now = now;
  }

  /** `signer`: the ID or address of --signer. Returns undefined if the log can't be read, because the warning is optional. */
  static async read(signer: string | undefined, context: Context): Promise<RecentReminders | undefined> {
    const { baseUrl } = await context.session.settings();
    const times = await readReminderTimes(stateDir(), baseUrl?.value ?? '').catch(() => undefined);
    const email = signer?.includes('@') ? signer : undefined;
    return times && new RecentReminders(times, email, () => context.session.now());
  }

  /** Returns true if a reminder was ever sent for the envelope. */
  knows(envelopeId: string): boolean {
    return this.#times.since(envelopeId, Number.NEGATIVE_INFINITY, this.#email).length > 0;
  }

  /** Returns a sentence for each reminder about the envelope within the last hour, by the service's clock. */
  of(envelopeId: string): string[] {
    const now = this.#now();
    return this.#times.since(envelopeId, now - RECENT_REMINDER_MS, this.#email).map(({ signer, at }) => {
      const ago = `${durationInWords(now - at)} ago`;
      if (signer === UNKNOWN_SIGNER)
        return `Someone may have been reminded ${ago}: a line of the reminder log is damaged.`;
      return `${signer === ALL_PENDING ? 'Everyone who had not signed' : signer} was reminded ${ago}.`;
    });
  }
}
