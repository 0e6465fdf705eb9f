import { durationInWords } from '../kernel/duration.ts';
import { type LoggedWrite, remindedAt } from '../log/logged-write.ts';

/** A reminder sent within this time is reported before another one. */
const RECENT_MS = 3_600_000;
/** The gap between two reminders to the same signer that commands suggest and MCP tools use. */
export const REMINDER_GAP = '24h';

/** A reminder to one signer, or to everyone who hadn't signed. `at`: ms by the service's clock. */
export interface SentReminder {
  signerId: string | undefined;
  at: number;
}

/** The reminders that this machine sent or may have sent, from its log of writes. The service doesn't return them. */
export class ReminderTimes {
  /** By envelope, earliest first. */
  readonly #reminders = new Map<string, SentReminder[]>();

  constructor(writes: readonly LoggedWrite[]) {
    for (const write of writes) {
      const { state, intent } = write;
      const [id] = intent.envelopeIds;
      if (id === undefined || intent.action !== 'remind' || state === 'refused') continue;
      const at = remindedAt(write);
      this.#reminders.set(id, [...(this.#reminders.get(id) ?? []), { signerId: intent.signerId, at }]);
    }
    for (const list of this.#reminders.values()) list.sort((one, other) => one.at - other.at);
  }

  /** Returns every reminder about the envelope, earliest first; with `signerId`, those that this signer got. */
  allOf(envelopeId: string, signerId?: string): SentReminder[] {
    const all = this.#reminders.get(envelopeId) ?? [];
    return all.filter(
      (one) => signerId === undefined || one.signerId === undefined || one.signerId === signerId,
    );
  }

  lastOf(envelopeId: string, signerId?: string): SentReminder | undefined {
    return this.allOf(envelopeId, signerId).at(-1);
  }
}

/** Returns a sentence for each signer who was reminded about the envelope within the last hour. `now` is the service's time in ms. */
export function recentReminders(
  times: ReminderTimes,
  envelope: {
    id: string;
    signers?:
      | readonly { id?: string | null | undefined; email?: string | null | undefined }[]
      | null
      | undefined;
  },
  signerId: string | undefined,
  now: number,
): string[] {
  const last = new Map<string | undefined, number>();
  for (const { signerId: to, at } of times.allOf(envelope.id, signerId))
    if (at >= now - RECENT_MS) last.set(to, at);
  const nameOf = (id: string) => envelope.signers?.find((one) => one.id === id)?.email ?? id;
  return [...last].map(([to, at]) => {
    const who = to === undefined ? 'Everyone who had not signed' : nameOf(to);
    return `${who} was reminded ${durationInWords(now - at)} ago.`;
  });
}
