import type { HttpRequest } from '../api/http.ts';
import { isRecord, tryParseJson } from '../kernel/json.ts';
import { ENVELOPE_STATUSES, isInFlight, LIMITS } from '../kernel/vocabulary.ts';
import { DOCUMENT } from './document.ts';
import { type NotePoint, noteEnvelope } from './envelope-points.ts';

/** A response of the service, with its request. */
export interface Sighting {
  operation: string;
  /** The ID in the path, if it is that of an envelope. */
  envelopeId: string | undefined;
  request: HttpRequest;
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: unknown;
  /** The error code, if any. */
  code: string | undefined;
}

/** The largest expiresInDays that the sandbox accepts. */
const MAX_DAYS = 365;
const MAX_STATUSES = 10_000;
/** More than the rounding of a header to whole seconds. In ms. */
const WINDOW_STEP_MS = 2_000;
/** X-RateLimit-Reset is in seconds below this value and in milliseconds above it. */
const MILLISECONDS_FROM = 1e11;

/** Notes the service's behavior for the points that the API document leaves open. Statuses are only kept in memory. */
export class ResponsePoints {
  readonly #statuses = new Map<string, string>();
  readonly #now: () => number;
  #window: { reset: number; at: number } | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  see(sighting: Sighting, note: NotePoint): void {
    const { status, body, operation } = sighting;
    const data = isRecord(body) ? body.data : undefined;
    if (status < 300) note('byob', 'on');
    this.#noteWindow(sighting, note);
    if (status === 429) note('retry-after', sighting.headers['retry-after'] === undefined ? 'off' : 'on');
    if (operation === 'listEnvelopes' || operation === 'listTemplates') notePaging(sighting, note);
    if (operation === 'listEnvelopes' && Array.isArray(data)) noteOrder(data, note);
    if (operation === 'createEnvelope') noteCreate(sighting, data, note);
    if (/^(send|cancel|remind)/.test(operation)) this.#noteAction(sighting, data, note);
    if (isRecord(data) && 'status' in data) {
      noteEnvelope(data, sighting.headers.date, note);
      this.#remember(data);
    }
  }

  #remember({ id, status }: Record<string, unknown>): void {
    if (typeof id !== 'string' || typeof status !== 'string') return;
    if (this.#statuses.size >= MAX_STATUSES) this.#statuses.clear();
    this.#statuses.set(id, status);
  }

  #noteAction({ operation, envelopeId, status, body, code }: Sighting, data: unknown, note: NotePoint): void {
    const before = this.#statuses.get(envelopeId ?? '');
    const isDone = status < 300;
    if (isDone) note('action-reply', actionResponse(status, body, data));
    this.#statuses.delete(envelopeId ?? '');
    if (before === undefined || !(isDone || code === 'INVALID_STATE')) return;
    if (operation === 'cancelEnvelope' && (before === 'DRAFT' || before === 'DECLINED'))
      note('cancel', isDone ? 'literal' : 'strict');
    if (operation === 'remindSigners' && !isInFlight(before)) note('remind', isDone ? 'any' : 'active-only');
  }

  /** Notes the kind of window. A fixed one keeps its end; a sliding one moves it with each request. */
  #noteWindow({ headers }: Sighting, note: NotePoint): void {
    const reset = Number(headers['x-ratelimit-reset']);
    if (!(reset > 0)) return;
    const now = this.#now();
    const before = this.#window;
    if (before !== undefined && now - before.at < WINDOW_STEP_MS) return;
    this.#window = { reset, at: now };
    const endsAt = (before?.reset ?? 0) * (reset < MILLISECONDS_FROM ? 1_000 : 1);
    if (before === undefined || endsAt < now + WINDOW_STEP_MS) return;
    note('rate-window', reset === before.reset ? 'fixed' : 'sliding');
  }
}

function actionResponse(status: number, body: unknown, data: unknown): string {
  if (body === undefined) return status === 204 ? 'empty204' : 'empty';
  if (!isRecord(data)) return 'other';
  if (typeof data.id === 'string') return 'envelope';
  return data.success === true ? 'success' : 'other';
}

function notePaging({ request, status, code }: Sighting, note: NotePoint): void {
  const query = new URLSearchParams(request.path.split('?')[1]);
  const asked = (name: string) => request.query?.[name] ?? query.get(name) ?? undefined;
  const isAllowed =
    isNumber(asked('page'), Number.MAX_SAFE_INTEGER) &&
    isNumber(asked('pageSize'), LIMITS.pageSize) &&
    (asked('status') === undefined || ENVELOPE_STATUSES.some((one) => one === asked('status')));
  if (isAllowed) return;
  if (status < 300) note('bad-paging', 'clamp');
  else if (code === 'VALIDATION_ERROR') note('bad-paging', 'error');
}

function isNumber(text: string | undefined, most: number): boolean {
  if (text === undefined) return true;
  return /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= most;
}

function noteOrder(items: readonly unknown[], note: NotePoint): void {
  let rises = false;
  let falls = false;
  let before = '';
  for (const item of items) {
    const created = isRecord(item) ? item.createdAt : undefined;
    if (typeof created !== 'string') return;
    rises ||= before !== '' && created > before;
    falls ||= before !== '' && created < before;
    before = created;
  }
  if (rises !== falls) note('list-order', rises ? 'asc' : 'desc');
  else if (rises) note('list-order', 'other');
}

function noteCreate({ request, status, body, code }: Sighting, data: unknown, note: NotePoint): void {
  const sent = sentBody(request);
  if (sent === undefined) return;
  const refused = code === 'VALIDATION_ERROR' && isRecord(body) && isRecord(body.error);
  const details = refused && isRecord(body.error) && isRecord(body.error.details) ? body.error.details : {};
  const unknown = Object.keys(sent).filter((key) => !DOCUMENT.createFields.includes(key));
  if (unknown.length > 0 && status < 300) note('unknown-fields', 'ignored');
  if (unknown.some((key) => Object.hasOwn(details, key))) note('unknown-fields', 'validation-error');
  if (
    isRecord(data) &&
    sent.signingOrder === undefined &&
    /^(PARALLEL|SEQUENTIAL)$/.test(String(data.signingOrder))
  )
    note('default-signing-order', String(data.signingOrder).toLowerCase());
  noteLongestExpiry(sent.expiresInDays, status, details, note);
}

function noteLongestExpiry(
  days: unknown,
  status: number,
  details: Record<string, unknown>,
  note: NotePoint,
): void {
  if (typeof days !== 'number') return;
  if (days > MAX_DAYS && status < 300) note('longest-expiry', 'longer');
  if (Object.hasOwn(details, 'expiresInDays') && days >= 1)
    note('longest-expiry', days > MAX_DAYS ? '365-days' : 'shorter');
}

function sentBody({ body, bodyText }: HttpRequest): Record<string, unknown> | undefined {
  if (isRecord(body)) return body;
  const parsed = tryParseJson(bodyText ?? '');
  return isRecord(parsed) ? parsed : undefined;
}
