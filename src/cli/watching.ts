import type { Envelope } from '../api/schemas.ts';
import { type Change, watchEnvelopes } from '../envelopes/watch.ts';
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
  const client = await around.client();
  const timeUp = new WaitTimeoutError(`Gave up after ${durationInWords(wish.timeoutMs ?? 0)}.`, {
    hint: `Go on with: esign envelopes watch ${ids.slice(0, 3).join(' ')}${ids.length > 3 ? ' …' : ''}`,
  });
  const deadline = new AbortController();
  const timer =
    wish.timeoutMs === undefined ? undefined : setTimeout(() => deadline.abort(timeUp), wish.timeoutMs);
  const signal = AbortSignal.any([around.signal, deadline.signal]);
  const spinner = await startSpinner(`Waiting for ${wish.until.join(' or ')}`, around.terminal, around.json);
  const last = new Map<string, Envelope>();
  try {
    for await (const event of watchEnvelopes(client, ids, {
      until: wish.until,
      intervalMs: wish.intervalMs,
      signal,
    })) {
      if (event.type === 'change') {
        last.set(event.change.envelopeId, event.change.envelope);
        await spinner.aside(() => writeChange(event.change, around));
      } else if (event.type === 'recovered')
        await spinner.aside(() => around.notice('The service answers again.'));
      else if (event.failures === 1)
        await spinner.aside(() => around.notice(`${sentenceOf(event.error)} Watching goes on.`));
    }
  } finally {
    clearTimeout(timer);
    spinner.stop();
  }
  judge(last, wish.until);
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
