import { durationInWords } from './duration.ts';

/** Returns the message for an email or webhook of the sandbox that did not arrive in time. */
export function waitExpiredMessage(
  what: 'email' | 'webhook',
  waitMs: number,
  wanted: { to?: string | undefined; event?: string | undefined; envelope?: string | undefined },
): string {
  const { to, event, envelope } = wanted;
  const details = [
    event === undefined ? '' : ` ${event}`,
    to === undefined ? '' : ` to ${to}`,
    envelope === undefined ? '' : ` about ${envelope}`,
  ].join('');
  const length = waitMs < 1_000 ? `${waitMs} ms` : durationInWords(waitMs);
  return `No ${what}${details} arrived within ${length}.`;
}
