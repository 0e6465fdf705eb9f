import { isLoopback } from '../../api/base-url.ts';
import type { Session } from '../../cli/session.ts';
import { UsageError } from '../../kernel/errors.ts';
import type { ListenerOptions } from '../../webhooks/listen-event.ts';

/** The interval at which a service on this machine is asked for its time. */
const LOCAL_MS = 5_000;

/**
 * Returns the options of health checks. The service's clock is checked, except that of a sandbox, because it can be moved.
 * @throws UsageError if the port is the same as that for webhooks.
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
  // A listener also works without a profile, but then the service's time isn't known.
  const settings = await session.settings().catch(() => undefined);
  const baseUrl = settings?.baseUrl?.value;
  if (baseUrl === undefined || settings?.profileName?.value === 'sandbox')
    return { port, serviceTime: undefined, askEveryMs: undefined };
  const { timeAsker } = await import('../../api/ask-time.ts');
  const askEveryMs = isLoopback(new URL(baseUrl)) ? LOCAL_MS : undefined;
  return { port, serviceTime: timeAsker(baseUrl), askEveryMs };
}
