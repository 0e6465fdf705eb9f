import { waitAtMost } from '../../../kernel/clock.ts';
import { invalidBody } from '../base/errors.ts';
import { MAX_OFFSET_MS } from '../base/sandbox-clock.ts';
import type { ServiceParts } from '../base/service-parts.ts';
import type { WebhookSender } from '../webhooks/sender.ts';

/** The maximum time to wait, in real ms, for webhook attempts that a clock change caused. */
const MAX_WAIT_MS = 5000;

interface Advanced extends Pick<ServiceParts, 'store' | 'clock' | 'realClock'> {
  sender: WebhookSender;
}

/**
 * Moves the sandbox's clock forward, stopping at every retry of a webhook on the way, so that each is sent at its own time; `catchUp`
 * processes everything that is due. Returns the new time in ms.
 */
export async function advanceClock(
  ms: number,
  { store, clock, realClock, sender }: Advanced,
  catchUp: () => Promise<void>,
): Promise<number> {
  if (clock.offsetMs + ms > MAX_OFFSET_MS)
    throw invalidBody({ ms: ['The clock can be advanced by at most a century'] });
  const deadline = realClock.now() + MAX_WAIT_MS;
  const timeLeft = () => deadline - realClock.now();
  const deliveriesDone = async () => {
    if (timeLeft() > 0) await waitAtMost(timeLeft(), sender.whenIdle(), realClock);
  };
  const moveTo = async (offset: number) => {
    clock.offsetMs = offset;
    await catchUp();
    sender.wake();
    await deliveriesDone();
  };
  await deliveriesDone();
  const offset = clock.offsetMs + ms;
  const target = clock.now() + ms;
  store.commit([{ kind: 'clock', ...clock.recordOf(offset) }]);
  // Without time to wait for its webhooks, a stop would only delay the caller.
  while (timeLeft() > 0) {
    const next = sender.nextDue ?? target;
    if (next >= target) break;
    await moveTo(clock.offsetMs + Math.max(0, next - clock.now()));
  }
  await moveTo(offset);
  return clock.now();
}
