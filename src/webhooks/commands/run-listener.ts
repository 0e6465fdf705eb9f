import { untilAborted } from '../../cli/interrupt.ts';
import type { Context } from '../../cli/session/context.ts';
import { downloadDocuments } from '../../documents/commands/run-download.ts';
import { UsageError } from '../../kernel/errors.ts';
import { eventsDir } from '../../kernel/files/paths.ts';
import { isLoopbackHost } from '../../kernel/network/localhost.ts';
import type { ListenerOptions } from '../listen-event.ts';
import { listen } from '../listener.ts';
import { isAccepted } from '../receive/delivery.ts';
import { isSamePath } from '../receive/path.ts';
import { parseEventNames } from './event-flags.ts';
import { DeliveryActions } from './listen-actions.ts';
import type { ListenFlags } from './listen-flags.ts';
import { ListenView } from './listen-lines.ts';
import { findListenSecrets } from './listen-secrets.ts';
import { targetUrl } from './send-to-receiver.ts';

const NO_SECRETS = {
  secretsFor: () => Promise.resolve([]),
  notice: undefined,
};

/** Receives webhooks and shows what happens, until a signal. */
export async function listenUntilStopped(flags: ListenFlags, context: Context): Promise<void> {
  const secrets = flags.verify ? await findListenSecrets(flags['secret-file'], context) : NO_SECRETS;
  const options = listenerOptions(flags, secrets.secretsFor, context);
  const over = new AbortController();
  const signal = AbortSignal.any([context.interrupt.signal, over.signal]);
  const end = untilAborted(signal).then(() => over.abort());
  const view = new ListenView(context.terminal, options);
  const warn = (message: string) => view.take({ type: 'warning', message });
  const download = (id: string, dir: string) => downloadDocuments(id, dir, context);
  const actions = new DeliveryActions({ exec: flags.exec, dir: flags.download, download, warn });
  try {
    for await (const event of listen(options, signal)) {
      if (event.type === 'summary') await actions.done();
      view.take(event);
      if (event.type === 'ready' && secrets.notice !== undefined)
        view.take({ type: 'notice', message: secrets.notice });
      if (event.type === 'delivery' && isAccepted(event.delivery)) actions.take(event.delivery, event.place);
    }
  } finally {
    over.abort();
    await view.written();
  }
  await end;
}

function listenerOptions(
  flags: ListenFlags,
  secretsFor: ListenerOptions['secretsFor'],
  context: Context,
): ListenerOptions {
  const { host, port, verify, tunnel, inspect } = flags;
  const path = requestPath(flags.path);
  const healthPort = flags['health-port'];
  if (healthPort === port && port !== 0)
    throw new UsageError(`--health-port and --port are both ${port}.`, { hint: 'Use two different ports.' });
  const forwardTo = (flags['forward-to'] ?? []).map((url) => targetUrl(url, '--forward-to'));
  refuseLoop(forwardTo, { host, port, path });
  const events = parseEventNames(flags.events);
  return {
    ...{ host, port, path, verify, tunnel, inspect, healthPort, forwardTo, events, secretsFor },
    clock: context.session.clock,
    eventsFolder: eventsDir(),
    redactor: context.terminal.redactor,
  };
}

/** Returns a path as requests for it contain it. @throws UsageError if no request can contain it */
function requestPath(path: string): string {
  const hint = 'Example: --path /webhooks';
  if (!path.startsWith('/')) throw new UsageError(`--path "${path}" must start with a slash.`, { hint });
  if (/[?#]/.test(path)) throw new UsageError(`--path "${path}" can't contain ? or #.`, { hint });
  return new URL(`http://localhost${path}`).pathname;
}

/** @throws UsageError for the listener's own address: each delivery would be received and forwarded again, without end */
function refuseLoop(
  forwardTo: readonly string[],
  { host, port, path }: { host: string; port: number; path: string },
): void {
  const isOwn = (text: string) => {
    const url = new URL(text);
    const isHere = isLoopbackHost(url.hostname) || url.hostname === host || url.hostname === '0.0.0.0';
    return isHere && Number(url.port || 80) === port && isSamePath(url.pathname, path);
  };
  if (forwardTo.some(isOwn))
    throw new UsageError("--forward-to is the listener's own address.", {
      hint: 'Pass the URL of your application, or a different --port.',
    });
}
