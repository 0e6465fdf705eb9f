import { validateHeaderName } from 'node:http';
import { resolve } from 'node:path';
import { isLoopback } from '../../api/base-url.ts';
import { indexPathOf } from '../../cli/boot/observations.ts';
import type { Context } from '../../cli/context.ts';
import { untilAborted } from '../../cli/interrupt.ts';
import type { Session } from '../../cli/session.ts';
import { defaultFileName } from '../../documents/archive/file-names.ts';
import { parseLine, readManifest } from '../../documents/archive/manifest.ts';
import { Feed } from '../../envelope-index/feed.ts';
import { DAY_MS } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import { eventsDir } from '../../kernel/files/paths.ts';
import { preferLowMemory } from '../../kernel/process/v8-flags.ts';
import { SIGNATURE_HEADER } from '../../kernel/vocabulary.ts';
import { DRAIN_MS, FORWARD_TIMEOUT_MS } from '../../webhooks/defaults.ts';
import { forwardsFolder } from '../../webhooks/forward/forwarding.ts';
import { listenerAddress } from '../../webhooks/journal/coverage.ts';
import { readEvents } from '../../webhooks/journal/event-journal.ts';
import { COMPLETED } from '../../webhooks/journal/record.ts';
import type { ListenerOptions } from '../../webhooks/listen-event.ts';
import { listen } from '../../webhooks/listener.ts';
import type { Delivery } from '../../webhooks/receive/delivery.ts';
import { downloadDocuments, LISTENER_DOCUMENTS } from '../documents/download/run.ts';
import { eventNames } from '../events/event-flags.ts';
import { targetUrl } from '../events/send.ts';
import { DeliveryActions } from './actions.ts';
import type { ListenFlags } from './flags.ts';
import { ListenKeys } from './keys.ts';
import { listenSecrets } from './secrets.ts';
import { AwaitedEnvelope } from './until.ts';
import { ListenView } from './view.ts';

/** Receives webhooks and shows what happens, until a signal or until the awaited envelope reaches its status. */
export async function listenUntilStopped(flags: ListenFlags, context: Context): Promise<void> {
  preferLowMemory();
  const forwards = flags['forward-to'] !== undefined;
  const keys = new ListenKeys(context.terminal, { forwards });
  const options = await listenerOptions(flags, context, keys);
  const over = new AbortController();
  const signal = AbortSignal.any([context.interrupt.signal, over.signal]);
  const view = new ListenView(context.terminal, options);
  const warn = (message: string) => view.take({ type: 'warning', message });
  const download = (id: string, dir: string) => downloadDocuments(id, dir, context);
  const actions = new DeliveryActions({ exec: flags.exec, dir: flags.download, download, warn });
  const index = await listenIndex(context.session);
  const { envelope } = flags;
  const awaited = envelope === undefined ? undefined : new AwaitedEnvelope(envelope, flags, context, warn);
  let end: Promise<void> | undefined;
  try {
    for await (const event of listen(options, signal)) {
      if (event.type === 'summary') await actions.end();
      view.take(event);
      if (event.type === 'ready') {
        end = awaited === undefined ? untilAborted(signal) : untilReached(awaited, actions, signal);
        end.finally(() => over.abort()).catch(() => undefined);
        keys.start(warn);
        actions.resume(() => unfinishedDownloads(options));
      }
      if (event.type === 'delivery' && event.delivery.reason === null) {
        awaited?.addDelivery(event.delivery);
        index.take(event.delivery);
        actions.take(event.delivery, event.place);
      }
    }
  } finally {
    over.abort();
    await index.write();
    // Changing the mode of a terminal that nobody reads would block the process.
    await view.written().finally(() => keys.stop());
  }
  await end;
}

/** Waits for the envelope. If it is completed, downloads its documents. */
async function untilReached(
  awaited: AwaitedEnvelope,
  actions: DeliveryActions,
  signal: AbortSignal,
): Promise<void> {
  const status = await awaited.reached(signal);
  await actions.done();
  await awaited.check(status);
  if (status === 'COMPLETED') await actions.download(awaited.id);
}

/** How far back unfinished downloads are found. */
const DOWNLOADS_WINDOW_MS = 7 * DAY_MS;

/**
 * Returns the envelopes, oldest first, whose documents an earlier listener was to download into the same folder. Those that are listed in
 * its SHA256SUMS have been downloaded, even if they were moved since.
 */
async function unfinishedDownloads({
  eventsFolder,
  downloadTo: dir,
  clock,
}: Pick<ListenerOptions, 'eventsFolder' | 'downloadTo' | 'clock'>): Promise<string[]> {
  if (dir === undefined) return [];
  const selection = {
    events: new Set([COMPLETED]),
    verified: true,
    since: clock.now() - DOWNLOADS_WINDOW_MS,
  };
  const ids = new Set<string>();
  for await (const { envelopeId, downloadTo } of readEvents(eventsFolder, selection))
    if (downloadTo === dir && envelopeId !== null) ids.add(envelopeId);
  if (ids.size === 0) return [];
  const listed = new Set((await readManifest(dir)).map((line) => parseLine(line)?.name));
  const isMissing = (id: string) => LISTENER_DOCUMENTS.some((what) => !listed.has(defaultFileName(id, what)));
  return [...ids].filter(isMissing).reverse();
}

async function listenerOptions(
  flags: ListenFlags,
  context: Context,
  keys: ListenKeys,
): Promise<ListenerOptions> {
  const { host, port, verify } = flags;
  const path = requestPath(flags.path);
  const forwardTo = (flags['forward-to'] ?? []).map((url) => targetUrl(url, '--forward-to'));
  refuseLoop(forwardTo, { host, port, path });
  const { redactor } = context.terminal;
  const { clock } = context.session;
  return {
    host,
    port,
    path,
    verify,
    clock,
    events: eventNames(flags.events),
    forwardTo,
    signatureHeader: headerName(flags['signature-header']),
    secretsFor: verify ? await listenSecrets(flags['secret-file'], context) : noSecrets,
    eventsFolder: eventsDir(),
    forwardsFolder: forwardsFolder(),
    forwardTimeoutMs: flags['forward-timeout'] ?? FORWARD_TIMEOUT_MS,
    downloadTo: flags.download === undefined ? undefined : resolve(flags.download),
    drainMs: flags.drain ?? DRAIN_MS,
    keepMs: flags.keep,
    tunnel: flags.tunnel,
    health: await listenHealth(flags, context.session),
    inspect:
      flags.inspect || keys.isEnabled
        ? { port: flags['inspect-port'] ?? 0, redactor, isOpen: flags.inspect }
        : undefined,
    onControls: (controls) => {
      keys.controls = controls;
    },
  };
}

/** Returns a path as requests for it contain it. @throws UsageError if no request can contain it */
function requestPath(path: string): string {
  const hint = 'Example: --path /webhooks';
  if (!path.startsWith('/')) throw new UsageError(`--path "${path}" must start with a slash.`, { hint });
  if (/[?#]/.test(path)) throw new UsageError(`--path "${path}" can't contain ? or #.`, { hint });
  return new URL(`http://localhost${path}`).pathname;
}

/** Returns a header's name as received requests contain it. @throws UsageError if no request can contain it */
function headerName(name: string): string {
  try {
    validateHeaderName(name);
  } catch {
    throw new UsageError(`--signature-header "${name}" isn't a header name.`, {
      hint: `Example: --signature-header ${SIGNATURE_HEADER}`,
    });
  }
  return name.toLowerCase();
}

/** @throws UsageError for the listener's own address: each delivery would be received and forwarded again, without end */
function refuseLoop(
  forwardTo: readonly string[],
  { host, port, path }: { host: string; port: number; path: string },
): void {
  const own = listenerAddress(`http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`);
  const same = forwardTo.find((url) => listenerAddress(url.replace(/\?.*$/, '')) === own);
  if (same !== undefined)
    throw new UsageError("--forward-to is the listener's own address.", {
      hint: 'Pass the URL of your application, or a different --port.',
    });
}

function noSecrets(): Promise<{ secrets: readonly string[]; others: readonly string[] }> {
  return Promise.resolve({ secrets: [], others: [] });
}

/** The interval at which a service on this machine is asked for its time. */
const LOCAL_MS = 5_000;

/**
 * Returns the options of health checks. The service's clock is checked, except that of a sandbox, because it can be moved.
 * @throws UsageError if the port is the same as that for webhooks.
 */
async function listenHealth(
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
  const { createServiceTimeReader } = await import('../../api/service-time.ts');
  const askEveryMs = isLoopback(new URL(baseUrl)) ? LOCAL_MS : undefined;
  return { port, serviceTime: createServiceTimeReader(baseUrl), askEveryMs };
}

/** How long webhooks are collected before they are written together, in ms. */
const FLUSH_DELAY_MS = 500;

/**
 * Returns what updates the profile's index with verified webhooks, so that searches read those envelopes again. Without a profile,
 * the listener works but has no index to update.
 */
async function listenIndex(session: Session) {
  const settings = await session.settings().catch(() => undefined);
  const path = settings && indexPathOf(settings);
  const feed = path === undefined ? undefined : new Feed(path);
  let timer: NodeJS.Timeout | undefined;
  /** Writes the collected updates. */
  async function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    await feed?.finish();
  }
  function take({ verified, duplicate, envelopeId, status }: Delivery): void {
    if (feed === undefined || !verified || duplicate || envelopeId === null) return;
    feed.touched(envelopeId, status ?? '');
    timer ??= setTimeout(() => void write(), FLUSH_DELAY_MS).unref();
  }
  return { take, write };
}
