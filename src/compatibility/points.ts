import type { HttpRequest } from '../api/http.ts';
import { DAY_MS } from '../kernel/duration.ts';
import { isList, isRecord, tryParseJson } from '../kernel/json.ts';
import { ENVELOPE_STATUSES, isInFlight, LIMITS } from '../kernel/vocabulary.ts';
import { DOCUMENT } from './api-document.ts';

/** A response of the service, with its request. */
export interface ObservedResponse {
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
const MAX_REMEMBERED = 10_000;
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

  see(sighting: ObservedResponse, note: NotePoint): void {
    const { status, body, operation } = sighting;
    const data = isRecord(body) ? body.data : undefined;
    if (status < 300) note('byob', 'on');
    this.#noteWindow(sighting, note);
    if (status === 429) note('retry-after', sighting.headers['retry-after'] === undefined ? 'off' : 'on');
    if (operation === 'listEnvelopes' || operation === 'listTemplates') notePaging(sighting, note);
    if (operation === 'listEnvelopes' && Array.isArray(data)) noteListOrder(data, note);
    if (operation === 'createEnvelope') noteCreate(sighting, data, note);
    if (/^(send|cancel|remind)/.test(operation)) this.#noteAction(sighting, data, note);
    if (isRecord(data) && 'status' in data) {
      noteEnvelope(data, sighting.headers.date, note);
      remember(this.#statuses, data.id, data.status);
    }
  }

  #noteAction(
    { operation, envelopeId, status, body, code }: ObservedResponse,
    data: unknown,
    note: NotePoint,
  ): void {
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
  #noteWindow({ headers }: ObservedResponse, note: NotePoint): void {
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

function notePaging({ request, status, code }: ObservedResponse, note: NotePoint): void {
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

function noteListOrder(items: readonly unknown[], note: NotePoint): void {
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

function noteCreate({ request, status, body, code }: ObservedResponse, data: unknown, note: NotePoint): void {
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

export type NotePoint = (point: string, value: string) => void;

/** Two times closer together than this are treated as equal. In ms. */
const MOMENT_MS = 2_000;
/** A shorter time between creation and sending is inconclusive. In ms. */
const MIN_DIFFERENCE_MS = 60_000;

type Json = Readonly<Record<string, unknown>>;

/** Notes what an envelope shows about open points of its life cycle. `date` is the Date header of the response. */
function noteEnvelope(envelope: Json, date: unknown, note: NotePoint): void {
  const signers = (isList(envelope.signers) ? envelope.signers : []).filter(isRecord);
  noteExpiry(envelope, typeof date === 'string' ? Date.parse(date) : Number.NaN, note);
  if (signers.length === 0) return;
  noteSigningOrder(envelope, signers, note);
  if (signers.some(({ declinedAt }) => typeof declinedAt === 'string')) {
    if (envelope.status === 'DECLINED') note('decline', 'ends-envelope');
    else if (envelope.status === 'SENT' || envelope.status === 'IN_PROGRESS') note('decline', 'continues');
  }
  noteCompletion(envelope, signers, note);
}

function noteExpiry(envelope: Json, now: number, note: NotePoint): void {
  const [created, sent, expires] = [envelope.createdAt, envelope.sentAt, envelope.expiresAt].map(timeOf);
  if (created === undefined || expires === undefined) return;
  if (sent !== undefined && sent - created > MIN_DIFFERENCE_MS) {
    const fromCreation = isWholeDays(expires - created);
    if (fromCreation !== isWholeDays(expires - sent))
      note('expiry-from', fromCreation ? 'creation' : 'sending');
  }
  if (sent !== undefined || expires > now - MOMENT_MS) return;
  if (envelope.status === 'EXPIRED') note('draft-expiry', 'expires');
  if (envelope.status === 'DRAFT' && expires < now - MOMENT_MS) note('draft-expiry', 'never');
}

function isWholeDays(ms: number): boolean {
  const rest = ((ms % DAY_MS) + DAY_MS) % DAY_MS;
  return Math.min(rest, DAY_MS - rest) < MOMENT_MS;
}

/** Notes, before anyone has signed, whether later signers have another status than the first ones. */
function noteSigningOrder(envelope: Json, signers: readonly Json[], note: NotePoint): void {
  if (envelope.signingOrder !== 'SEQUENTIAL' || envelope.status !== 'SENT') return;
  const orders = signers.map(({ order }) => (typeof order === 'number' ? order : Number.NaN));
  const lowest = Math.min(...orders);
  if (!orders.some((order) => order > lowest) || signers.some(({ signedAt }) => signedAt)) return;
  const statusesWhere = (isFirst: boolean) =>
    new Set(signers.filter((_, at) => (orders[at] === lowest) === isFirst).map(({ status }) => status));
  const later = statusesWhere(false);
  const isLowestFirst = [...statusesWhere(true)].every((status) => !later.has(status));
  note('sequential-order', isLowestFirst ? 'lowest-first' : 'not-shown');
}

function noteCompletion(envelope: Json, signers: readonly Json[], note: NotePoint): void {
  const times = signers.map(({ signedAt }) => timeOf(signedAt));
  if (times.includes(undefined)) return;
  const last = Math.max(...times.map((time) => time ?? 0));
  const completed = timeOf(envelope.completedAt);
  if (envelope.status === 'IN_PROGRESS') note('finalisation', 'delayed');
  else if (envelope.status === 'COMPLETED' && completed !== undefined)
    note('finalisation', completed - last > MOMENT_MS ? 'delayed' : 'at-once');
}

function timeOf(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

function remember(statuses: Map<string, string>, id: unknown, status: unknown): void {
  if (typeof id !== 'string' || typeof status !== 'string') return;
  if (statuses.size >= MAX_REMEMBERED) statuses.clear();
  statuses.set(id, status);
}

/** A verified webhook that is not a duplicate. */
interface SeenEvent {
  body: Readonly<Record<string, unknown>>;
  event: string | null;
  envelopeId: string | null;
  status: string | null;
  /** The value of the signature header. */
  signature: string | undefined;
}

/** Notes what webhooks show about open points. IDs are only kept in memory. */
export class EventPoints {
  readonly #views = new Set<string>();
  readonly #lastSigned = new Map<string, string>();

  see({ body, event, envelopeId, status, signature }: SeenEvent, note: NotePoint): void {
    note('payload', 'event' in body ? 'event' : 'type' in body ? 'type' : 'other');
    if (signature !== undefined) note('signature', /^\s*sha256=/.test(signature) ? 'prefixed' : 'bare');
    if (envelopeId === null) return;
    const data = isRecord(body.data) ? body.data : {};
    if (event === 'envelope.viewed') this.#noteView(envelopeId, data.signer, note);
    if (event === 'envelope.signed') remember(this.#lastSigned, envelopeId, status);
    const last = event === 'envelope.completed' ? this.#lastSigned.get(envelopeId) : undefined;
    if (last === 'IN_PROGRESS') note('last-signed', 'in-progress');
    if (last === 'COMPLETED') note('last-signed', 'completed');
  }

  #noteView(envelopeId: string, signer: unknown, note: NotePoint): void {
    if (!isRecord(signer) || typeof signer.id !== 'string') return;
    if (this.#views.size >= MAX_REMEMBERED) this.#views.clear();
    const view = JSON.stringify([envelopeId, signer.id]);
    if (this.#views.has(view)) note('viewed', 'every');
    this.#views.add(view);
  }
}
