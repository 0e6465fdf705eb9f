import { isLoopback } from '../../api/base-url.ts';
import type { Session } from '../../cli/session.ts';
import { UsageError } from '../../kernel/errors.ts';
import type { ListenerOptions } from '../../webhooks/listen-event.ts';

/** A service on this machine may be asked for its time as often as this. */
const LOCAL_MS = 5_000;

/**
 * How a listener answers monitors; where a service is known, its clock counts. That of a sandbox is moved on purpose.
 * @throws UsageError when it is the port that webhooks come to.
 */
export async function listenHealth(
  { port: taken, 'health-port': port }: { port: number; 'health-port'?: number | undefined },
  session: Session,
): Promise<ListenerOptions['health']> {
  if (port === undefined) return undefined;
  if (port === taken && port !== 0)
    throw new UsageError(`--health-port ${port} is the port of --port, too.`, {
      hint: 'Give each a port of its own.',
    });
  // A listener works without a profile, so it does without the service's time, too.
  const settings = await session.settings().catch(() => undefined);
  const baseUrl = settings?.baseUrl?.value;
  if (baseUrl === undefined || settings?.profileName?.value === 'sandbox')
    return { port, serviceTime: undefined, askEveryMs: undefined };
  const { timeAsker } = await import('../../api/ask-time.ts');
  const askEveryMs = isLoopback(new URL(baseUrl)) ? LOCAL_MS : undefined;
  return { port, serviceTime: timeAsker(baseUrl), askEveryMs };
}
