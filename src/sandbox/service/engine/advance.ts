import { waitAtMost } from '../../../kernel/clock.ts';
import { invalidBody } from '../base/errors.ts';
import type { ServiceParts } from '../base/parts.ts';
import type { WebhookSender } from '../webhooks/sender.ts';

/** The maximum time to wait, in real ms, for webhook attempts that a clock change caused; shorter if a receiver hangs. */
const MAX_WAIT_MS = 5000;
/** The maximum offset of the sandbox's clock from the machine's: a century. */
const MAX_OFFSET_MS = 100 * 365 * 86_400_000;

interface Advanced extends Pick<ServiceParts, 'store' | 'clock' | 'realClock'> {
  sender: WebhookSender;
}

/**
 * Moves the sandbox's clock forward, stopping at every webhook retry on the way; `catchUp` processes everything that is due. Returns the
 * new time in ms.
 */
export async function advanceClock(
  ms: number,
  { store, clock, realClock, sender }: Advanced,
  catchUp: () => Promise<void>,
): Promise<number> {
  if (clock.offsetMs + ms > MAX_OFFSET_MS)
    throw invalidBody({ ms: ['The clock can be advanced by at most a century'] });
  const deadline = realClock.now() + MAX_WAIT_MS;
  const deliveriesDone = async () => {
    const left = deadline - realClock.now();
    if (left > 0) await waitAtMost(left, sender.whenIdle(), realClock);
  };
  const moveTo = async (offset: number) => {
    clock.offsetMs = offset;
    await catchUp();
    sender.wake(true);
    await deliveriesDone();
  };
  await deliveriesDone();
  const offset = clock.offsetMs + ms;
  const target = clock.now() + ms;
  await store.commit([{ kind: 'clock', ...clock.recordOf(offset) }]);
  for (let next = sender.nextDue; next !== undefined && next < target; next = sender.nextDue)
    await moveTo(Math.min(clock.offsetMs + Math.max(0, next - clock.now()), offset));
  await moveTo(offset);
  return clock.now();
}
