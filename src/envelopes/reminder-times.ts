import { type LoggedWrite, remindedAt } from '../log/logged-write.ts';

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
