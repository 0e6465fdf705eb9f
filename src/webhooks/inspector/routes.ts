import { createHash, timingSafeEqual } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { Wakeable } from '../../kernel/async/wakeable.ts';
import { systemClock } from '../../kernel/clock.ts';
import type { Redactor } from '../../kernel/redaction.ts';
import { KIT_FILES, readAsset } from '../../pages/assets.ts';
import { type ForwardResult, forwardOnce } from '../forward/send.ts';
import { deliveryFromEventRecord } from '../journal/record.ts';
import type { ReceiverOptions } from '../receive/receiver.ts';
import type { DeliveryBoard, InspectorEntry } from './board.ts';
import { inspectorPage } from './page.ts';
import { deliveryDetail, deliveryRow, matchesFilters, whyNotReplayable } from './shown-delivery.ts';

/** The listener whose deliveries are shown. */
export interface InspectedListener extends Pick<ReceiverOptions, 'clock'> {
  /** The addresses to which valid deliveries are forwarded and replayed. */
  targets: readonly string[];
  /** The time limit for a target's response. */
  timeoutMs: number;
  redactor: Redactor;
  /** Called with the result of each replay. */
  onReplay: (result: ForwardResult) => void;
}

interface Parts extends InspectedListener {
  board: DeliveryBoard;
  token: string;
  /** Aborted when the inspector closes. */
  closing: AbortSignal;
}

/** The interval of comment lines in the stream, which reveal broken connections. */
const HEARTBEAT_MS = 15_000;

/** Serves the page and its files, the stream of updates, details of deliveries, search in bodies, and replay. */
export function inspectorApp(parts: Parts): Hono<InspectorEnv> {
  const { board, redactor, targets } = parts;
  const app = new Hono<InspectorEnv>();
  app.use('*', linkHoldersOnly(parts.token));
  app.get('/:token', (c) => c.redirect(`/${parts.token}/`, 308));
  app.get('/:token/', (c) => c.html(inspectorPage(board.listensAt)));
  app.get('/:token/assets/:name', async (c) => {
    const file = await readAsset(c.req.param('name'), FILES);
    return file === undefined ? c.notFound() : c.body(file.body, 200, { 'Content-Type': file.type });
  });
  app.get('/:token/news', (c) => {
    const after = Number(c.req.header('last-event-id') ?? 0);
    return streamSSE(c, (stream) => streamChanges(stream, after, parts));
  });
  app.get('/:token/search', (c) => {
    const { text = '', event = '', state = '' } = c.req.query();
    const found = board.since(0).filter((entry) => matchesFilters(entry, { text, event, state }));
    return c.json(found.map(({ record }) => record.deliveryId));
  });
  app.get('/:token/deliveries/:id', (c) => {
    const entry = board.entry(c.req.param('id'));
    if (entry === undefined) return c.json({ error: 'No longer available.' }, 404);
    return c.json(deliveryDetail(entry, { ...parts, listensAt: board.listensAt }));
  });
  app.post('/:token/deliveries/:id/replay', async (c) => {
    const entry = board.entry(c.req.param('id'));
    if (entry === undefined) return c.json({ error: 'No longer available.' }, 404);
    const refusal = whyNotReplayable(entry, targets);
    if (refusal !== null) return c.json({ error: refusal }, 409);
    const results = await replay(entry, parts);
    return c.json(results.map((result) => ({ ...result, url: redactor.redact(result.url) })));
  });
  app.notFound((c) => c.text('Page not found.\n', 404));
  return app;
}

const FILES = [...KIT_FILES, 'inspector.css', 'inspector.js', 'delivery.js', 'elements.js', 'times.js'];

/** Sends a delivery to all targets, as `events replay` does. */
async function replay({ record }: InspectorEntry, { targets, timeoutMs, clock, board, onReplay }: Parts) {
  const delivery = deliveryFromEventRecord(record);
  return Promise.all(
    targets.map(async (url) => {
      const result = await forwardOnce(delivery, url, { attempt: 1, timeoutMs, clock });
      board.addForward(result, true);
      onReplay(result);
      return result;
    }),
  );
}

/** Sends all changes that the page hasn't seen yet, then each new one. */
async function streamChanges(stream: SSEStreamingApi, after: number, parts: Parts): Promise<void> {
  const { board, closing, redactor } = parts;
  const gone = new AbortController();
  stream.onAbort(() => gone.abort());
  const ended = AbortSignal.any([gone.signal, closing]);
  let seen = after;
  const pause = new Wakeable(systemClock);
  const unwatch = board.watch(() => pause.wake());
  while (!ended.aborted) {
    const changed = board.since(seen);
    seen = board.change;
    const rows = changed.map((entry) => deliveryRow(entry, redactor));
    if (rows.length > 0)
      await stream.writeSSE({ event: 'deliveries', id: String(seen), data: JSON.stringify(rows) });
    else await stream.write(': still here\n\n');
    await pause.wait(HEARTBEAT_MS, ended).catch(() => undefined);
  }
  unwatch();
}

interface InspectorEnv {
  Bindings: HttpBindings;
}

/** Loads only the page's own files, allows no framing, and treats no text as markup or script. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS: readonly (readonly [string, string])[] = [
  ['Content-Security-Policy', POLICY],
  // The link is secret, so it must not be sent to other sites (referrer) or cached.
  ['Referrer-Policy', 'no-referrer'],
  ['Cache-Control', 'no-store'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
];

/**
 * Allows only requests whose path contains the token of the link. A cookie would be unsafe, because browsers also send it to
 * other servers on this machine. Requests with a foreign host name (DNS rebinding) or from another origin are rejected first.
 */
function linkHoldersOnly(token: string) {
  return createMiddleware<InspectorEnv>(async (c, next) => {
    for (const [name, value] of HEADERS) c.header(name, value);
    const { host, origin } = c.env.incoming.headers;
    const port = c.env.incoming.socket.localPort ?? 0;
    const isOwnName = host === `127.0.0.1:${port}` || host === `localhost:${port}`;
    const isOwnPage =
      origin === undefined ? /^(?:GET|HEAD)$/.test(c.req.method) : origin === `http://${host ?? ''}`;
    if (!isOwnName || !isOwnPage) return c.text('This page is available only at its own address.\n', 403);
    if (!isSame(c.req.path.split('/')[1] ?? '', token))
      return c.text('Open the full link that `esign listen --inspect` printed.\n', 403);
    return next();
  });
}

/** Compares two tokens of any length in constant time. */
function isSame(given: string, token: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(token));
}
