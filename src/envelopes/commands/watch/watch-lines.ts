import type { Envelope } from '../../../api/resource-types.ts';
import { hasSigned } from '../../../kernel/statuses.ts';
import { statusColor } from '../../../output/status-marks.ts';
import type { Terminal } from '../../../output/terminal.ts';
import { safeLine } from '../../../output/text.ts';
import { localTime } from '../../../output/time.ts';
import type { StatusChange } from '../../watch/watch-envelopes.ts';

/** Renders a change on one line. In a pipe, tab-separated: time, ID, from, to, signer. */
export function renderChange(change: StatusChange, terminal: Terminal): string {
  const { at, envelopeId, from, to, signer } = change;
  if (!terminal.outIsTty)
    return `${[at, envelopeId, from ?? '', to, signer ?? ''].map(safeLine).join('\t')}\n`;
  const color = statusColor(to);
  const status = color ? terminal.style(color, safeLine(to)) : safeLine(to);
  const time = terminal.style('dim', localTime(at));
  return `${time}  ${safeLine(envelopeId)}  ${status}${inWords(change)}\n`;
}

function inWords(change: StatusChange): string {
  const { total, signed } = progressOf(change.envelope);
  const progress = total > 0 ? `, ${signed} of ${total} signed` : '';
  const action = describeSignerAction(change);
  return action === undefined ? progress : safeLine(`  ${action}${progress}`);
}

export function progressOf(envelope: Envelope): { total: number; signed: number } {
  const signers = envelope.signers ?? [];
  return { total: signers.length, signed: signers.filter(hasSigned).length };
}

/** Returns what a signer did, such as `Bo declined: too expensive`; undefined if no signer made the change. */
export function describeSignerAction(change: Pick<StatusChange, 'signer' | 'envelope'>): string | undefined {
  if (change.signer === null) return undefined;
  const moved = (change.envelope.signers ?? []).find(
    (one) => (one.email ?? one.id ?? one.name) === change.signer,
  );
  const reason = moved?.declineReason ? `: ${moved.declineReason}` : '';
  const name = moved?.name || change.signer;
  return `${name} ${(moved?.status ?? 'changed').toLowerCase().replaceAll('_', ' ')}${reason}`;
}
