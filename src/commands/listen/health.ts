import { isLoopback } from '../../api/base-url.ts';
import type { Session } from '../../cli/session.ts';
import { UsageError } from '../../kernel/errors.ts';
import type { ListenerOptions } from '../../webhooks/listen-event.ts';

/** How often to ask a service on this machine for its time. */
const LOCAL_MS = 5_000;

/**
 * Returns the options of health checks. The service's clock is checked, except that of a sandbox, which can be moved.
 * @throws UsageError if the port is also that of webhooks.
 */
export async function listenHealth(
  { port: taken, 'health-port': port }: { port: number; 'health-port'?: number | undefined },
  session: Session,
): Promise<ListenerOptions['health']> {
  if (port === undefined) return undefined;
  if (port === taken && port !== 0)
    throw new UsageError(`--health-port and --port are both ${port}.`, {
      hint: 'Use two different ports.',
    });
  // A listener works without a profile, and then without the service's time.
  const settings = await session.settings().catch(() => undefined);
  const baseUrl = settings?.baseUrl?.value;
  if (baseUrl === undefined || settings?.profileName?.value === 'sandbox')
    return { port, serviceTime: undefined, askEveryMs: undefined };
  const { timeAsker } = await import('../../api/ask-time.ts');
  const askEveryMs = isLoopback(new URL(baseUrl)) ? LOCAL_MS : undefined;
  return { port, serviceTime: timeAsker(baseUrl), askEveryMs };
}
