import type { Envelope, Signer } from '../../../api/resource-types.ts';
import { peopleAt } from '../../../cli/input/confirm.ts';
import { counted } from '../../../kernel/duration.ts';
import { mailboxOf, nameOf } from '../../../kernel/text/person.ts';
import type { Terminal } from '../../../output/terminal.ts';
import { safeLine, truncate } from '../../../output/text.ts';
import type { EnvelopeAction, ExecutablePlan } from '../../plan-writes.ts';
import { namesOf } from '../envelope-table.ts';

/** Returns `Send 3 envelopes to 5 people`; for a single one, whom and which: `Remind Bo about “Lease”`. */
export function whatIsDone({ name }: EnvelopeAction, planned: readonly ExecutablePlan[]): string {
  const [first] = planned;
  if (first !== undefined && planned.length === 1) {
    const whom = safeLine(namesOf(first.signers.map(nameOf)));
    const what = `“${truncate(safeLine(first.envelope?.subject || first.envelope?.templateName || first.id), 40)}”`;
    return {
      send: `Send ${what} to ${whom}`,
      cancel: `Cancel ${what}, for ${whom}`,
      remind: `Remind ${whom} about ${what}`,
    }[name];
  }
  const envelopes = counted(planned.length, 'envelope');
  const people = peopleAt(planned.flatMap(({ signers }) => signers.map(({ email }) => email)));
  return {
    send: `Send ${envelopes} to ${people}`,
    cancel: `Cancel ${envelopes} for ${people}`,
    remind: `Remind ${people} about ${envelopes}`,
  }[name];
}

const DONE = {
  sent: (id: string, whom: string) => `Sent ${id}${whom && ` to ${whom}`}`,
  canceled: (id: string, whom: string) => `Canceled ${id}${whom && `, for ${whom}`}`,
  reminded: (id: string, whom: string) =>
    whom ? `Reminded ${whom} (${id})` : `Reminded the signers of ${id}`,
} as const;

/** Renders an action and its signers on one line. In a pipe: ID and status. */
export function renderDone(
  done: keyof typeof DONE,
  envelope: Envelope,
  people: readonly Signer[],
  terminal: Terminal,
): string {
  const id = safeLine(envelope.id);
  if (!terminal.outIsTty) return `${id}\t${safeLine(envelope.status ?? 'unknown')}\n`;
  return `${DONE[done](id, safeLine(namesOf(people.map(mailboxOf))))}\n`;
}
