import { waitAtMost } from '../../../kernel/clock.ts';
import { invalidBody } from '../base/errors.ts';
import type { ServiceParts } from '../base/parts.ts';
import { MAX_OFFSET_MS } from '../base/sandbox-clock.ts';
import type { StoreState } from '../store/state.ts';
import type { Store } from '../store/store.ts';
import type { WebhookSender } from '../webhooks/sender.ts';
import { isActive } from './predicates.ts';

/** The maximum time to wait, in real ms, for webhook attempts that a clock change caused. */
const MAX_WAIT_MS = 5000;

interface Advanced extends Pick<ServiceParts, 'clock' | 'realClock'> {
  store: Pick<Store, 'state' | 'commit'>;
  sender: Pick<WebhookSender, 'nextDue' | 'wake' | 'whenIdle'>;
}

/**
 * Moves the sandbox's clock forward, stopping at every webhook and its retries on the way, so that each is sent at its own time; `catchUp`
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
  store.commit([{ kind: 'clock', ...clock.recordOf(offset) }]);
  const events = eventTimes(store.state, target)[Symbol.iterator]();
  const nextEvent = () => events.next().value ?? Number.POSITIVE_INFINITY;
  let event = nextEvent();
  for (;;) {
    // Without time to wait for its webhooks, a stop would only delay the caller.
    if (realClock.now() >= deadline) event = Number.POSITIVE_INFINITY;
    const next = Math.min(sender.nextDue ?? Number.POSITIVE_INFINITY, event);
    if (next >= target) break;
    if (next === event) event = nextEvent();
    await moveTo(Math.min(clock.offsetMs + Math.max(0, next - clock.now()), offset));
  }
  await moveTo(offset);
  return clock.now();
}

/**
 * Returns the times up to `target` at which envelopes with a webhook are completed or expire, earliest first. They are rounded up to whole
 * seconds, because envelopes that were created together are due a few ms apart.
 */
function eventTimes({ envelopes, expiries, finalizations }: StoreState, target: number): number[] {
  const hasWebhook = ({ id }: { id: string }) => {
    const envelope = envelopes.get(id);
    return envelope !== undefined && envelope.webhookUrl !== null && isActive(envelope);
  };
  const due = [...finalizations.until(target), ...expiries.until(target)].filter(hasWebhook);
  return [...new Set(due.map(({ at }) => Math.ceil(at / 1000) * 1000))].sort((a, b) => a - b);
}
