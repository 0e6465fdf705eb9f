import { counted, durationInWords, grouped } from '../../../kernel/duration.ts';
import { indented } from '../../../output/table.ts';
import type { Terminal } from '../../../output/terminal.ts';
import { safeLine } from '../../../output/text.ts';
import type { RehearsalResult, RehearseRequest } from './result.ts';

const FAILED_SHOWN = 20;
const BASIS_TEXTS = {
  'template+role': 'earlier turns of the same template and role',
  template: 'earlier turns of the same template',
  account: 'earlier turns of this account',
  default: 'default times, because this account has fewer than 20 finished turns',
} as const;

/** A rehearsal as a terminal shows it. */
export function rehearsalText(result: RehearsalResult, wanted: RehearseRequest, terminal: Terminal): string {
  const { expected, failed } = result;
  const time =
    result.seconds === 0
      ? 'within the current rate window'
      : `about ${durationInWords(result.seconds * 1_000)}`;
  const lines = [
    `${counted(result.envelopes, 'envelope')} to ${counted(result.signers, 'signer')}, ${counted(result.emails, 'invitation')} sent within ${counted(wanted.days, 'day')}`,
    `${counted(result.requests, 'request')}, ${time}; ${grouped(result.sentThisMonth)} sent this month afterwards`,
    ...(result.existing > 0 ? [`${counted(result.existing, 'row')} skipped: already sent`] : []),
    `After ${counted(wanted.days, 'day')}: ${grouped(expected.completed)} completed, ${grouped(expected.declined)} declined, ${grouped(expected.expired)} expired; ${counted(result.late, 'turn')} would be late`,
    `50% are complete ${dayText(expected.day50)}, 90% ${dayText(expected.day90)} (from ${BASIS_TEXTS[result.basis]})`,
    ...failed.slice(0, FAILED_SHOWN).map(({ line, error }) => `${wanted.file}:${line}: ${error.message}`),
    ...(failed.length > FAILED_SHOWN ? [`… and ${grouped(failed.length - FAILED_SHOWN)} more.`] : []),
  ];
  return lines.map((line) => `${indented(safeLine(line), 0, terminal)}\n`).join('');
}

export function dayText(day: number | null): string {
  return day === null ? 'later' : `on day ${day}`;
}
