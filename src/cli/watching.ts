import type { Envelope } from '../api/schemas.ts';
import { type Change, type WatchEvent, watchEnvelopes } from '../envelopes/watch.ts';
import { durationInWords } from '../kernel/duration.ts';
import { EndedOtherwiseError, sentenceOf, WaitTimeoutError } from '../kernel/errors.ts';
import { writeJsonLine } from '../output/json.ts';
import { startSpinner } from '../output/spinner.ts';
import { renderChange } from '../output/watch-view.ts';
import type { Surroundings } from './surroundings.ts';

export interface WatchWish {
  until: readonly string[];
  timeoutMs?: number | undefined;
  intervalMs: number;
  /** The longest pause while nothing moves. */
  quietMs?: number | undefined;
}

/**
 * Follows envelopes and writes each change as it happens.
 * @throws EndedOtherwiseError when one ended in another status, WaitTimeoutError when the time was up.
 */
export async function watchToTheEnd(
  ids: readonly string[],
  wish: WatchWish,
  around: Surroundings,
): Promise<void> {
  const client = await around.client({ maxWaitMs: Number.POSITIVE_INFINITY });
  const timeUp = new WaitTimeoutError(`Gave up after ${durationInWords(wish.timeoutMs ?? 0)}.`, {
    hint: `Go on with: esign envelopes watch ${ids.slice(0, 3).join(' ')}${ids.length > 3 ? ' …' : ''}`,
  });
  const deadline = new AbortController();
  const timer =
    wish.timeoutMs === undefined ? undefined : setTimeout(() => deadline.abort(timeUp), wish.timeoutMs);
  const signal = AbortSignal.any([around.signal, deadline.signal]);
  const spinner = await startSpinner(`Waiting for ${wish.until.join(' or ')}`, around.terminal, around.json);
  const last = new Map<string, Envelope>();
  const gone: Error[] = [];
  try {
    const { until, intervalMs, quietMs } = wish;
    for await (const event of watchEnvelopes(client, ids, { until, intervalMs, quietMs, signal })) {
      if (event.type === 'change') last.set(event.change.envelopeId, event.change.envelope);
      if (event.type === 'gone') gone.push(event.error);
      await spinner.aside(() => writeEvent(event, ids.length > 1, around));
    }
  } finally {
    clearTimeout(timer);
    spinner.stop();
  }
  judge(last, wish.until);
  const [first] = gone;
  if (first !== undefined) throw first;
}

async function writeEvent(event: WatchEvent, several: boolean, around: Surroundings): Promise<void> {
  if (event.type === 'change') return writeChange(event.change, around);
  if (event.type === 'recovered') return around.notice('The service answers again.');
  if (event.type === 'outage' && event.failures === 1)
    return around.notice(`${sentenceOf(event.error)} Watching goes on.`);
  // Of a single one the reporter says it.
  if (event.type === 'gone' && several) around.notice(`${event.id}: ${sentenceOf(event.error)}`);
}

function writeChange(change: Change, around: Surroundings): Promise<void> {
  const { terminal, json } = around;
  return json ? writeJsonLine(change, terminal) : terminal.out(renderChange(change, terminal));
}

function judge(last: ReadonlyMap<string, Envelope>, until: readonly string[]): void {
  const otherwise = [...last.values()].filter((envelope) => !until.includes(envelope.status ?? ''));
  if (otherwise.length === 0) return;
  const list = otherwise.map((envelope) => `${envelope.id} is ${envelope.status ?? 'unknown'}`).join(', ');
  throw new EndedOtherwiseError(`Ended in another status than ${until.join(' or ')}: ${list}.`, {
    hint: `See why: \`esign envelopes get ${otherwise[0]?.id ?? ''}\`.`,
  });
}
