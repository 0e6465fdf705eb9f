import type { Envelope } from '../../api/resource-types.ts';
import type { NextStep } from '../../cli/next-steps.ts';
import type { NextStepsTerminal } from '../../cli/terminal.ts';
import { isInFlight } from '../../kernel/statuses.ts';
import { isSandbox } from '../../settings/account-in-words.ts';

/** Returns the commands that make sense for the status of an envelope. In the sandbox, you sign yourself. */
export function nextSteps(
  envelope: Envelope,
  { account: { settings }, command }: NextStepsTerminal,
): NextStep[] {
  const { id } = envelope;
  const status = envelope.status ?? '';
  const step = (label: string, verb: string): NextStep => [label, command('envelopes', verb, id)];
  if (status === 'DRAFT') return [step('Send', 'send'), step('Cancel', 'cancel')];
  if (isInFlight(status))
    return [
      ...(settings && isSandbox(settings) ? [['Sign', command('sandbox', 'sign', id)] as const] : []),
      step('Remind', 'remind'),
      step('Correct', 'replace'),
      step('Watch', 'watch'),
      step('Cancel', 'cancel'),
    ];
  if (status === 'COMPLETED')
    return [
      step('Download', 'download'),
      ['Evidence', command('envelopes', 'evidence', id, '--dir', 'evidence')],
    ];
  return ['DECLINED', 'EXPIRED'].includes(status) ? [step('Send again', 'replace')] : [];
}

/** Returns what to do with a new envelope. In the sandbox, nobody else signs. */
export function nextStepsOfNew(
  { id, status }: Envelope,
  { account: { settings }, command }: NextStepsTerminal,
): NextStep[] {
  if (status === 'DRAFT') return [['Send it:', command('envelopes', 'send', id)]];
  const baseUrl = settings?.baseUrl;
  if (settings === undefined || baseUrl === undefined || !isSandbox(settings))
    return [['Watch it:', command('envelopes', 'watch', id)]];
  return [
    ['Sign it:', command('sandbox', 'sign', id)],
    ['Or open:', `${new URL(baseUrl.value).origin}/mailbox`],
  ];
}
