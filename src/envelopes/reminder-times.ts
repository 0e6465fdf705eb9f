import { join } from 'node:path';
import * as z from 'zod/mini';
import { scan } from '../journal/scan.ts';

const entrySchema = z.object({
  /** ms since the epoch */
  at: z.number(),
  account: z.string(),
  envelopeId: z.string(),
  /** An address, or `*` for all that were pending. */
  signer: z.string(),
  /** Written before the request; `refused` takes it back when no mail went out. */
  state: z.enum(['asked', 'refused']),
});
export type ReminderEntry = z.infer<typeof entrySchema>;

export const REMINDER_FORMAT = {
  kind: 'reminders',
  version: 1,
  read: (value: unknown) => {
    const entry = entrySchema.safeParse(value);
    return entry.success ? entry.data : undefined;
  },
};

/** Stands for all signers that were pending. */
export const ALL_PENDING = '*';

/** The file in the folder of the state. */
export function reminderFile(folder: string): string {
  return join(folder, 'reminders.jsonl');
}

/** One who was reminded, or all who had not signed. */
export interface Reminded {
  signer: string;
  at: number;
}

/** Who was reminded when, of one account (a base URL). */
export class ReminderTimes {
  readonly #account: string;
  /** By envelope and signer; the latest last. */
  readonly #times = new Map<string, Map<string, number[]>>();

  constructor(account: string) {
    this.#account = account;
  }

  take({ account, envelopeId, signer, state, at }: ReminderEntry): void {
    if (account !== this.#account) return;
    const ofEnvelope = this.#times.get(envelopeId) ?? new Map<string, number[]>();
    const times = ofEnvelope.get(signer) ?? [];
    if (state === 'asked') times.push(at);
    else times.pop();
    this.#times.set(envelopeId, ofEnvelope.set(signer, times));
  }

  /** When the signer was last reminded of the envelope, in ms since the epoch. */
  lastOf(envelopeId: string, email: string): number | undefined {
    const own = email.toLowerCase();
    const found = this.#latest(envelopeId).filter(({ signer }) => signer === own || signer === ALL_PENDING);
    return found.length > 0 ? Math.max(...found.map(({ at }) => at)) : undefined;
  }

  /** Who was reminded of the envelope at that time or later; only the one that is named, where one is. */
  since(envelopeId: string, time: number, email?: string): Reminded[] {
    const own = email?.toLowerCase();
    return this.#latest(envelopeId).filter(
      ({ signer, at }) => at >= time && (own === undefined || signer === own || signer === ALL_PENDING),
    );
  }

  /** Every reminder of the envelope, the earliest first. */
  allOf(envelopeId: string): Reminded[] {
    return [...(this.#times.get(envelopeId) ?? [])]
      .flatMap(([signer, times]) => times.map((at) => ({ signer, at })))
      .sort((a, b) => a.at - b.at || (a.signer < b.signer ? -1 : 1));
  }

  #latest(envelopeId: string): Reminded[] {
    return [...(this.#times.get(envelopeId) ?? [])].flatMap(([signer, times]) => {
      const at = times.at(-1);
      return at === undefined ? [] : [{ signer, at }];
    });
  }
}

/** What the log in the folder says, also while another process writes it. */
export async function readReminderTimes(folder: string, account: string): Promise<ReminderTimes> {
  const times = new ReminderTimes(account);
  const reading = { path: reminderFile(folder), format: REMINDER_FORMAT, damaged: 'skip' } as const;
  await scan<ReminderEntry>(reading, (entry) => times.take(entry));
  return times;
}
