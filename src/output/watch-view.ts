import type { Change } from '../envelopes/watch.ts';
import { statusColour } from './status.ts';
import type { Terminal } from './terminal.ts';
import { safeLine } from './text.ts';

/** One change as a line; in a pipe tab-separated: time, id, from, to, signer. */
export function renderChange(change: Change, terminal: Terminal): string {
  const { at, envelopeId, from, to, signer } = change;
  if (!terminal.outIsTty)
    return `${[at, envelopeId, from ?? '', to, signer ?? ''].map(safeLine).join('\t')}\n`;
  const colour = statusColour(to);
  const status = colour ? terminal.style(colour, safeLine(to)) : safeLine(to);
  const time = terminal.style('dim', new Date(at).toLocaleTimeString('en-GB'));
  return `${time}  ${safeLine(envelopeId)}  ${status}${inWords(change)}\n`;
}

function inWords(change: Change): string {
  const signers = change.envelope.signers ?? [];
  const signed = signers.filter((one) => one.status === 'SIGNED').length;
  const progress = signers.length > 0 ? `, ${signed} of ${signers.length} signed` : '';
  if (change.signer === null) return progress;
  const moved = signers.find((one) => one.email === change.signer);
  const reason = moved?.declineReason ? `: ${moved.declineReason}` : '';
  return safeLine(
    `  ${moved?.name ?? change.signer} ${(moved?.status ?? 'changed').toLowerCase()}${reason}${progress}`,
  );
}
