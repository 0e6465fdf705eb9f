import type { Envelope } from '../../../api/schemas.ts';
import type { Created } from '../../../envelopes/create.ts';
import { counted } from '../../../kernel/duration.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import { statusColor } from '../../../output/status.ts';
import type { Terminal } from '../../../output/terminal.ts';
import { safeLine } from '../../../output/text.ts';

/** Explains an envelope that was found by a search or created by an earlier run, and warnings. */
export function explainCreated({ envelope: { id }, by, warning }: Created): string[] {
  const found = {
    reply: [],
    lookup: [`The response was lost, but the envelope was created: ${id}.`],
    earlier: [
      `An earlier run with this request ID already created the envelope ${id}. Nothing new was created.`,
    ],
  }[by];
  return [...found, ...(warning ? [warning.message] : [])];
}

/** Returns the envelope as the service sent it, with the warning if there is one. */
export function withWarning({ envelope, warning }: Created): Record<string, unknown> {
  return warning ? { ...envelope, warning } : envelope;
}

/** Renders a new envelope: its ID and status, and the next command. In a pipe: ID and status. Quiet: only the ID. */
export function renderCreated(envelope: Envelope, terminal: Terminal, quiet: boolean): string {
  const id = safeLine(envelope.id);
  const status = safeLine(envelope.status ?? 'unknown');
  if (quiet) return `${id}\n`;
  if (!terminal.outIsTty) return `${id}\t${status}\n`;
  const color = statusColor(status);
  const signers = envelope.signers ?? [];
  const people = signers.length === 1 ? (signers[0]?.email ?? '') : counted(signers.length, 'signer');
  const next =
    status === 'DRAFT'
      ? `Send it:  ${command('envelopes', 'send', envelope.id)}`
      : `Watch it:  ${command('envelopes', 'watch', envelope.id)}`;
  const head = `Created ${terminal.style('bold', id)}: ${color ? terminal.style(color, status) : status}, for ${safeLine(people)}`;
  return `${head}\n${terminal.style('dim', next)}\n`;
}
