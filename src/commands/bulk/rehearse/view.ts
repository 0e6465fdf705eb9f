import { counted, durationInWords, grouped } from '../../../kernel/duration.ts';
import { indented, renderPairs } from '../../../output/table.ts';
import type { Terminal } from '../../../output/terminal.ts';
import { safeLine } from '../../../output/text.ts';
import type { SlowRow } from '../../../rehearsal/rehearse.ts';
import type { RehearsalResult, RehearseRequest } from './result.ts';

const MAX_FAILED = 20;
const MAX_LATE = 10;
/** The source of a rehearsal's times, in words. */
export const BASIS_TEXTS = {
  'template+role': 'earlier turns for the same template and role',
  template: 'earlier turns for the same template',
  account: 'earlier turns in this account',
  default: 'default times, because this account has fewer than 20 finished turns',
} as const;

/** Returns a rehearsal as text for a terminal. */
export function rehearsalText(result: RehearsalResult, request: RehearseRequest, terminal: Terminal): string {
  const { failed, late, caveats } = result;
  const failures = failed.map(({ line, error }) => `${request.file}:${line}: ${error.message}`);
  return [
    renderPairs(figuresOf(result, request), terminal, ''),
    section('Would fail', failures, MAX_FAILED, terminal),
    section(
      'Would be late',
      late.map((one) => `${request.file}:${one.line}: ${lateText(one)}`),
      MAX_LATE,
      terminal,
    ),
    section(
      'Keep in mind',
      caveats.map(({ text, action }) => `${text} ${action}`),
      caveats.length,
      terminal,
    ),
  ].join('');
}

function section(title: string, lines: readonly string[], limit: number, terminal: Terminal): string {
  if (lines.length === 0) return '';
  const more = lines.length - limit;
  const shown = more > 0 ? [...lines.slice(0, limit), `… and ${grouped(more)} more.`] : lines;
  const text = shown.map((line) => `  ${indented(safeLine(line), 2, terminal)}\n`).join('');
  return `\n${terminal.style('bold', title)}\n${text}`;
}

/** Returns the figures of a rehearsal, each with its label. */
export function figuresOf(result: RehearsalResult, request: RehearseRequest): [string, string][] {
  const { expected, envelopes, existing, drafts } = result;
  const open = envelopes - expected.completed - expected.declined - expected.expired;
  const skipped = existing === 0 ? [] : [`${counted(existing, 'row')} skipped: already sent`];
  const ofDrafts = drafts === 0 ? [] : [`${counted(drafts, 'draft')} from an earlier run sent`];
  return [
    [
      'Sent',
      [
        `${counted(envelopes, 'envelope')} to ${counted(result.signers, 'signer')}`,
        `${counted(result.emails, 'invitation')} within ${counted(request.days, 'day')}`,
        ...skipped,
        ...ofDrafts,
      ].join(', '),
    ],
    ['Cost', `${counted(result.requests, 'request')}, ${timeText(result)}`],
    ['This month', `${counted(result.sentThisMonth, 'envelope')} sent afterwards`],
    ['50% complete', dayText(expected.day50, request)],
    ['90% complete', dayText(expected.day90, request)],
    [
      `After ${counted(request.days, 'day')}`,
      `${grouped(expected.completed)} completed, ${grouped(expected.declined)} declined, ${grouped(expected.expired)} expired, ${grouped(open)} open`,
    ],
    ['Late', counted(result.late.length, 'signer')],
    ['Based on', BASIS_TEXTS[result.basis]],
  ];
}

/** Returns how long the requests take because of the rate window. */
export function timeText({ seconds }: RehearsalResult): string {
  return seconds === 0 ? 'within the rate limit' : `about ${durationInWords(seconds * 1_000)}`;
}

/** Returns text such as `in 2.5 days`. */
export function dayText(day: number | null, { days }: RehearseRequest): string {
  if (day === null) return `after more than ${counted(days, 'day')}, if ever`;
  return day === 1 ? 'in 1 day' : `in ${day} days`;
}

function lateText({ name, email, role, waitingMs, usualMs }: SlowRow): string {
  return `${name} <${email}>, ${role}: ${durationInWords(waitingMs)}, usually ${durationInWords(usualMs)}`;
}
