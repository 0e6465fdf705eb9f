import type { Signer } from '../api/resource-types.ts';
import { type LoggedWrite, remindedAt } from '../log/logged-write.ts';
import { remindKey } from '../log/write-keys.ts';

/** The gap between two reminders to the same signer that commands suggest and MCP tools use. */
export const REMINDER_GAP = '24h';

/** A reminder to one signer, or to everyone who hadn't signed. */
export interface SentReminder {
  /** In ms, by the service's clock. */
  at: number;
  isForAll: boolean;
  /** Returns true if it was for this signer only. Without signer IDs, the request may contain the address. */
  names: (signer: Signer) => boolean;
}

/** The reminders that this machine sent or may have sent, from its log of writes. The service doesn't return them. */
export class SentReminders {
  /** By envelope, earliest first. */
  readonly #reminders = new Map<string, SentReminder[]>();

  /** `now`: the service's time, in ms. Reminders that were sent later, by a wrong clock, don't count. */
  constructor(writes: readonly LoggedWrite[], now: number) {
    for (const write of writes) {
      const { state, intent } = write;
      const [id] = intent.envelopeIds;
      if (id === undefined || intent.action !== 'remind' || state === 'refused') continue;
      const at = remindedAt(write, now);
      if (at === undefined) continue;
      this.#reminders.set(id, [...(this.#reminders.get(id) ?? []), reminderOf(id, write, at)]);
    }
    for (const list of this.#reminders.values()) list.sort((one, other) => one.at - other.at);
  }

  /** Returns every reminder about the envelope, earliest first; with `signer`, those that this signer got. */
  allOf(envelopeId: string, signer?: Signer): SentReminder[] {
    const all = this.#reminders.get(envelopeId) ?? [];
    return all.filter((one) => signer === undefined || one.isForAll || one.names(signer));
  }

  lastOf(envelopeId: string, signer?: Signer): SentReminder | undefined {
    return this.allOf(envelopeId, signer).at(-1);
  }
}

/** The log contains neither addresses nor IDs of signers, but keys. */
function reminderOf(envelopeId: string, { intent: { key, baseUrl } }: LoggedWrite, at: number): SentReminder {
  const isFor = (signer: string | undefined) => key === remindKey(baseUrl, envelopeId, signer);
  return {
    at,
    isForAll: isFor(undefined),
    names: ({ id, email }) => (Boolean(id) && isFor(id ?? '')) || (Boolean(email) && isFor(email ?? '')),
  };
}
