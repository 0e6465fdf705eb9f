import type { Envelope } from '../../../api/schemas.ts';
import { counted } from '../../../kernel/duration.ts';
import { statusColour } from '../../../output/status.ts';
import type { Terminal } from '../../../output/terminal.ts';
import { safeLine } from '../../../output/text.ts';

/** What to say when an envelope did not come from the plain reply; nothing when it did. */
export function explainCreated(created: {
  envelope: Envelope;
  by: 'reply' | 'lookup' | 'earlier';
}): string | undefined {
  if (created.by === 'lookup')
    return `The reply was lost, but the envelope had been created; it was found: ${created.envelope.id}.`;
  if (created.by === 'earlier')
    return `An earlier run with this request id had created it already: ${created.envelope.id}. Nothing new was created.`;
  return undefined;
}

/** A new envelope: its id and state, and the next command. In a pipe: id and status; quiet: the id alone. */
export function renderCreated(envelope: Envelope, terminal: Terminal, quiet: boolean): string {
  const id = safeLine(envelope.id);
  const status = safeLine(envelope.status ?? 'unknown');
  if (quiet) return `${id}\n`;
  if (!terminal.outIsTty) return `${id}\t${status}\n`;
  const colour = statusColour(status);
  const signers = envelope.signers ?? [];
  const people = signers.length === 1 ? (signers[0]?.email ?? '') : counted(signers.length, 'signer');
  const next =
    status === 'DRAFT' ? `Send it:  esign envelopes send ${id}` : `Follow it:  esign envelopes watch ${id}`;
  const head = `Created ${terminal.style('bold', id)}: ${colour ? terminal.style(colour, status) : status}, for ${safeLine(people)}`;
  return `${head}\n${terminal.style('dim', next)}\n`;
}
