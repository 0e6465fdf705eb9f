import { durationInWords } from './duration.ts';

/** What is said where a mail of the sandbox was waited for in vain. */
export function noMailWithin(
  { to, envelope }: { to?: string | undefined; envelope?: string | undefined },
  waitMs: number,
): string {
  const whose = `${to === undefined ? '' : ` to ${to}`}${envelope === undefined ? '' : ` about ${envelope}`}`;
  const length = waitMs < 1_000 ? `${waitMs} ms` : durationInWords(waitMs);
  return `No mail${whose} came within ${length}.`;
}
