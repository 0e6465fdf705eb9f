import { renderNextSteps } from '../../../cli/next-steps.ts';
import type { NextStepsTerminal } from '../../../cli/terminal.ts';
import { counted } from '../../../kernel/duration.ts';
import { PartialError } from '../../../kernel/errors.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import type { CreateResult } from '../../../once/created.ts';
import { statusColor } from '../../../output/status-marks.ts';
import { safeLine } from '../../../output/text.ts';
import { nextStepsOfNew } from '../envelope-next-steps.ts';

/** Explains an envelope that was found by a search or created by an earlier run, and warnings. */
export function explainCreated({ envelope: { id, status }, by, warning }: CreateResult): string[] {
  // It says everything, and the command had no request ID.
  if (warning?.code === 'INTERRUPTED_CREATE_FOUND') return [warning.message];
  const found = {
    reply: [],
    lookup: [`The response was lost, but the envelope was created: ${id}.`],
    earlier: [
      `${id} already exists (${status ?? 'unknown status'}): this request ID was used before. Nothing was created.`,
    ],
  }[by];
  return [...found, ...(warning ? [warning.message] : [])];
}

/** @throws PartialError if the request has other envelopes that emailed its signers, or drafts that could not be canceled. */
export function refuseOthers({ envelope, others = [] }: CreateResult): void {
  if (others.length === 0) return;
  const names = others.map(({ id, status }) => `${id} (${status ?? 'unknown'})`).join(', ');
  throw new PartialError(
    `The request has ${others.length === 1 ? 'another envelope' : 'other envelopes'} in addition to ${envelope.id}: ${names}.`,
    { hint: `Keep one and cancel the other: \`${command('envelopes', 'cancel', others[0]?.id ?? '')}\`.` },
  );
}

/** Returns the envelope as the service sent it, with the warning if there is one. */
export function envelopeWithWarning({ envelope, warning }: CreateResult): Record<string, unknown> {
  return warning ? { ...envelope, warning } : envelope;
}

/**
 * Renders a new envelope: its ID and status, and the next command. In a pipe: ID and status. Quiet: only the ID. For an envelope that
 * existed, `explainCreated` has said so.
 */
export function renderCreated(
  { envelope, by }: Pick<CreateResult, 'envelope' | 'by'>,
  terminal: NextStepsTerminal,
  quiet: boolean,
): string {
  const id = safeLine(envelope.id);
  const status = safeLine(envelope.status ?? 'unknown');
  if (quiet) return `${id}\n`;
  if (!terminal.outIsTty) return `${id}\t${status}\n`;
  const next = renderNextSteps(nextStepsOfNew(envelope, terminal), terminal, '');
  if (by === 'earlier') return next;
  const signers = envelope.signers ?? [];
  const color = statusColor(status);
  const people = signers.length === 1 ? (signers[0]?.email ?? '') : counted(signers.length, 'signer');
  const head = `Created ${terminal.style('bold', id)}: ${color ? terminal.style(color, status) : status}, for ${safeLine(people)}`;
  return `${head}\n${next}`;
}
