import { DAY_MS } from '../kernel/duration.ts';
import { isList, isRecord } from '../kernel/json.ts';

/** Notes the service's behavior for an open point. */
export type NotePoint = (point: string, value: string) => void;

/** Two times closer together than this are treated as equal. In ms. */
const MOMENT_MS = 2_000;
/** A shorter time between creation and sending is inconclusive. In ms. */
const MIN_DIFFERENCE_MS = 60_000;

type Json = Readonly<Record<string, unknown>>;

/** Notes what an envelope shows about open points of its life cycle. `date` is the Date header of the response. */
export function noteEnvelope(envelope: Json, date: unknown, note: NotePoint): void {
  const signers = (isList(envelope.signers) ? envelope.signers : []).filter(isRecord);
  noteExpiry(envelope, typeof date === 'string' ? Date.parse(date) : Number.NaN, note);
  if (signers.length === 0) return;
  noteOrder(envelope, signers, note);
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
function noteOrder(envelope: Json, signers: readonly Json[], note: NotePoint): void {
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
