import type { HttpRequest, RawResponse } from '../api/http.ts';
import { isRecord } from '../kernel/json.ts';
import { SIGNATURE_HEADER } from '../kernel/vocabulary.ts';
import { DOCUMENT, type Operation } from './api-document.ts';
import { EventPoints, ResponsePoints } from './points.ts';
import { addToRecord } from './record.ts';
import { ObjectShapes } from './shape.ts';
import { FactTally } from './tally.ts';

export interface SeenWebhook {
  verified: boolean;
  duplicate: boolean;
  body: Readonly<Record<string, unknown>> | null;
  event: string | null;
  envelopeId: string | null;
  status: string | null;
  headers: readonly (readonly [string, string])[];
}

/** The interval at which a long-running process writes, in ms. */
const WRITE_EVERY_MS = 30_000;
const STORABLE_CODE = /^[A-Z_]{1,40}$/;

/**
 * Compares what the service sends with the API document in the background. Only shapes are kept and written to a file. Failures are
 * silent.
 */
export class CompatibilityRecorder {
  readonly #path: string;
  readonly #now: () => number;
  readonly #tally: FactTally;
  readonly #shapes = new Map<string, ObjectShapes>();
  readonly #responsePoints: ResponsePoints;
  readonly #eventPoints = new EventPoints();
  #writtenAt: number;
  #writing = Promise.resolve();

  constructor(path: string, now: () => number = Date.now) {
    this.#path = path;
    this.#now = now;
    this.#tally = new FactTally(now);
    this.#responsePoints = new ResponsePoints(now);
    this.#writtenAt = now();
  }

  /** Notes a response. `body` is its parsed JSON, or undefined if it has none. */
  noteResponse(request: HttpRequest, { status, headers, text }: RawResponse, body: unknown): void {
    if (body === undefined && text.trim() !== '') return;
    const route = findRoute(request.method, request.path);
    if (!isOfService(route, status, headers, body)) return;
    this.#tally.responseNumber += 1;
    const code = errorCodeOf(body);
    if (route === undefined) {
      if (status >= 400)
        this.#tally.note('? unknown-route', code === 'NOT_FOUND' ? 'not-found' : 'other', '');
      return;
    }
    const { id: operation } = route.operation;
    this.#noteStatus(route, status, code);
    noteHeaders(headers, { status, hasBody: body !== undefined }, (place, form) =>
      this.#tally.note(place, form, operation),
    );
    const object = status < 300 ? route.operation.reply : 'Error';
    if (object !== undefined && isRecord(body)) this.#shapesOf(object, operation).see(body);
    const note = (point: string, value: string) => this.#tally.note(`? ${point}`, value, operation);
    const { envelopeId } = route;
    this.#responsePoints.see({ operation, envelopeId, request, status, headers, body, code }, note);
    this.#writeSometimes();
  }

  /** Notes a webhook if its signature is valid and it is not a duplicate. */
  seeWebhook({ verified, duplicate, body, headers, ...named }: SeenWebhook): void {
    if (!verified || duplicate || body === null) return;
    this.#tally.responseNumber += 1;
    const event = DOCUMENT.events.find((name) => name === named.event);
    const operation = event ?? 'other event';
    this.#tally.note(`event ${event ?? '*'}`, 'object', operation);
    const signature = headers.find(([name]) => name.toLowerCase() === SIGNATURE_HEADER.toLowerCase())?.[1];
    if (signature === undefined) this.#tally.note(`header ${SIGNATURE_HEADER}`, 'missing', operation);
    if (event === 'envelope.signed' && 'event' in body) this.#shapesOf('SignedEvent', event).see(body);
    else if (event === 'envelope.signed' && isRecord(body.data))
      this.#shapesOf('SignedEvent.data', event).see(body.data);
    else if (event !== undefined && isRecord(body.data)) this.#shapesOf(event, event).see(body.data);
    const note = (point: string, value: string) => this.#tally.note(`? ${point}`, value, operation);
    this.#eventPoints.see({ body, signature, ...named }, note);
    this.#writeSometimes();
  }

  /** Writes the notes since the last write. */
  write(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#writeOnce());
    return this.#writing;
  }

  async #writeOnce(): Promise<void> {
    this.#writtenAt = this.#now();
    const facts = this.#tally.take();
    if (facts.length === 0) return;
    // If the disk is full or read-only, the record will be less complete.
    await addToRecord(this.#path, facts).catch(() => undefined);
  }

  #writeSometimes(): void {
    if (this.#now() - this.#writtenAt < WRITE_EVERY_MS) return;
    this.#writtenAt = this.#now();
    void this.write();
  }

  #noteStatus({ operation: { id } }: Route, status: number, code: string | undefined): void {
    if (status < 300) this.#tally.note(`status ${id}`, String(status), id);
    else if (code !== undefined)
      this.#tally.note(`code ${STORABLE_CODE.test(code) ? code : '*'}`, String(status), id);
  }

  #shapesOf(object: string, operation: string): ObjectShapes {
    const name = `${object} ${operation}`;
    let shapes = this.#shapes.get(name);
    if (shapes === undefined) {
      shapes = new ObjectShapes(object, operation, this.#tally);
      this.#shapes.set(name, shapes);
    }
    return shapes;
  }
}

/** Names that are stored. They can't be IDs. */
const STORABLE_NAME = /^[a-z][a-z-]{0,39}$/;
/** Headers of HTTP itself, or of servers and caches in between. */
const OF_HTTP =
  /^(date|connection|keep-alive|content-.+|transfer-encoding|trailer|upgrade|vary|etag|cache-control|expires|pragma|last-modified|server|server-timing|via|age|allow|location|retry-after|link|set-cookie|alt-svc|www-authenticate|accept-.+|access-control-.+|cross-origin-.+|strict-transport-security|x-content-type-options|x-frame-options|x-xss-protection|x-powered-by|x-cache|x-forwarded-.+|referrer-policy|permissions-policy|nel|report-to|reporting-endpoints)$/;
const NAMES = DOCUMENT.rateHeaders.map((name) => ({
  name,
  key: name.toLowerCase(),
  isReset: name.endsWith('Reset'),
}));
const RATE_KEYS = new Set(NAMES.map(({ key }) => key));
/** The maximum number of undocumented names stored per response. */
const MAX_NAMES = 20;

/** Notes the headers of a response, and the form of those in the API document. */
function noteHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  { status, hasBody }: { status: number; hasBody: boolean },
  note: (place: string, form: string) => void,
): void {
  // The document describes them for requests of a key. Requests with an invalid key don't count.
  if (status !== 401)
    for (const { name, key, isReset } of NAMES) note(`header ${name}`, formOf(headers[key], isReset));
  if (hasBody) note('header Content-Type', contentTypeOf(headers['content-type']));
  let others = 0;
  for (const name in headers) {
    if (RATE_KEYS.has(name) || OF_HTTP.test(name) || others >= MAX_NAMES) continue;
    others += 1;
    note(`header ${STORABLE_NAME.test(name) ? name : '*'}`, 'present');
  }
}

function formOf(value: string | string[] | undefined, isReset: boolean): string {
  if (value === undefined) return 'missing';
  if (typeof value !== 'string' || !/^\d+$/.test(value)) return 'string';
  if (!isReset) return 'integer';
  // A short number is in seconds from now; longer ones are Unix timestamps in seconds or milliseconds.
  return value.length < 9 ? 'relative' : value.length < 12 ? 'seconds' : 'milliseconds';
}

function contentTypeOf(value: string | string[] | undefined): string {
  if (value === undefined) return 'missing';
  return typeof value === 'string' && /^application\/json\s*(;|$)/i.test(value) ? 'json' : 'other';
}

interface Route {
  operation: Operation;
  /** The ID in the path, if it is that of an envelope. */
  envelopeId: string | undefined;
}

/** Statuses of a proxy or gateway rather than the service: a proxy requires a password, or a gateway can't reach the service. */
const PROXY_STATUS = 407;
const GATEWAY_STATUSES = [502, 503, 504];

const ROUTES = DOCUMENT.operations.map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`),
}));

/** Returns undefined for a path or method that the API document doesn't contain. */
function findRoute(method: string, path: string): Route | undefined {
  const query = path.indexOf('?');
  const bare = query < 0 ? path : path.slice(0, query);
  for (const { operation, pattern } of ROUTES) {
    if (operation.method !== method) continue;
    const found = pattern.exec(bare);
    if (found !== null) return { operation, envelopeId: found[1] };
  }
  return undefined;
}

function errorCodeOf(body: unknown): string | undefined {
  const error = isRecord(body) ? body.error : undefined;
  return isRecord(error) && typeof error.code === 'string' ? error.code : undefined;
}

/**
 * Returns true if the response comes from the service. A redirect, a login page, or the error of a proxy or gateway has another shape.
 * Rate-limit headers indicate the service.
 */
function isOfService(
  route: Route | undefined,
  status: number,
  headers: Readonly<Record<string, unknown>>,
  body: unknown,
): boolean {
  if (status < 200 || (status >= 300 && status < 400) || status === PROXY_STATUS) return false;
  if (headers['proxy-authenticate'] !== undefined) return false;
  const isRateLimited = DOCUMENT.rateHeaders.some((name) => headers[name.toLowerCase()] !== undefined);
  if (GATEWAY_STATUSES.includes(status) && !isRateLimited) return false;
  if (status >= 400)
    return isRecord(body) && isRecord(body.error) && (isRateLimited || errorCodeOf(body) !== undefined);
  const isAction = route !== undefined && route.operation.reply === undefined;
  if (body === undefined) return isAction && (status === 204 || isRateLimited);
  return isRecord(body) && ('data' in body || isRateLimited || isAction);
}
