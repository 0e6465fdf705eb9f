import { READ_CONCURRENCY } from '../../api/defaults.ts';
import type { EnvelopesApi } from '../../api/resources.ts';
import type { Envelope } from '../../api/schemas.ts';
import { ifFound } from '../../kernel/errors.ts';
import { mapAhead } from '../../kernel/streams.ts';
import { ENVELOPE_STATUSES, type EventName, isTerminal, listsSigners } from '../../kernel/vocabulary.ts';
import { isSampleId } from '../sample.ts';
import { type OnWarning, scanEvents } from './event-journal.ts';
import type { EventRecord } from './record.ts';

/** A difference between the journal on this machine and the API. */
export interface Gap {
  /**
   * `missing`: no event was received for a change. `contradicted`: an event contradicts the API. `unknown`: the API doesn't know the
   * event's envelope.
   */
  kind: 'missing' | 'contradicted' | 'unknown';
  envelopeId: string;
  event: string;
  signer: string | null;
  /** When the envelope changed or the event was received; null if the API doesn't return the time. */
  at: string | null;
  /** The envelope's status in the API. */
  status: string | null;
  deliveryId: string | null;
  why: string;
}

export interface GapQuery {
  /** ms since the epoch */
  since: number;
  now: number;
  /** The time that a delivery may take, in ms. */
  graceMs: number;
  /** If set, only envelopes with this webhook URL are checked. */
  webhookUrl?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Called if events can't be read. Their changes then seem to be missing. */
  warn?: OnWarning | undefined;
}

/** The relevant fields of an accepted event. */
interface Received extends Pick<EventRecord, 'id' | 'signer' | 'deliveryId' | 'receivedAt'> {
  event: string;
}
type Journal = Map<string, Map<string, Received>>;

/**
 * Compares the received events with the service's current data. A missing event is found only if the API shows the change, which
 * isn't the case when a signer views an envelope.
 */
export async function findGaps(
  envelopes: Pick<EnvelopesApi, 'list' | 'get'>,
  eventsFolder: string,
  query: GapQuery,
): Promise<{ gaps: Gap[]; checked: number }> {
  const journal: Journal = new Map();
  await readJournal(eventsFolder, 0, journal, query.warn);
  // Events received later may be newer than the data fetched below. They can fill gaps, but aren't checked themselves.
  const recent = recentEvents(journal, query.since);
  const current = await lookUp(envelopes, new Set(recent.map(({ envelopeId }) => envelopeId)), query);
  await readJournal(eventsFolder, query.now, journal);
  const isRelevant = ({ webhookUrl }: Envelope) =>
    Boolean(webhookUrl) && (query.webhookUrl === undefined || webhookUrl === query.webhookUrl);
  const checked = [...current.values()].filter((one) => one !== undefined).filter(isRelevant);
  const missing = checked.flatMap((envelope) => findMissing(envelope, journal.get(envelope.id), query));
  const others = recent.flatMap(({ envelopeId, received }) => {
    const envelope = current.get(envelopeId);
    return envelope === undefined || isRelevant(envelope) ? compareEvent(envelopeId, received, envelope) : [];
  });
  const when = ({ at }: Gap) => (at === null ? 0 : Date.parse(at));
  const gaps = [...missing, ...others].sort((a, b) => when(a) - when(b));
  return { gaps, checked: checked.length };
}

async function readJournal(folder: string, since: number, journal: Journal, warn?: OnWarning): Promise<void> {
  const take = ({ reason, event, envelopeId, id, signer, deliveryId, receivedAt }: EventRecord) => {
    if (reason !== null || event === null || envelopeId === null || isSampleId(envelopeId)) return;
    const events = journal.get(envelopeId) ?? new Map<string, Received>();
    journal.set(envelopeId, events);
    if (!events.has(id)) events.set(id, { id, event, signer, deliveryId, receivedAt });
  };
  await scanEvents(folder, since, take, warn);
}

function recentEvents(journal: Journal, since: number): { envelopeId: string; received: Received }[] {
  return [...journal].flatMap(([envelopeId, events]) =>
    [...events.values()]
      .filter(({ receivedAt }) => Date.parse(receivedAt) >= since)
      .map((received) => ({ envelopeId, received })),
  );
}

/** Reads every envelope that has events or may have changed. The value is undefined if the service doesn't know the envelope. */
async function lookUp(
  api: Pick<EnvelopesApi, 'list' | 'get'>,
  named: ReadonlySet<string>,
  { since, signal }: GapQuery,
): Promise<Map<string, Envelope | undefined>> {
  const current = new Map<string, Envelope | undefined>();
  const open = new Set(named);
  for await (const item of api.list({ pageSize: 100, signal })) {
    if (!named.has(item.id) && !mayHaveChanged(item, since)) continue;
    if (item.webhookUrl !== undefined && (listsSigners(item) || item.status === 'SENT')) {
      open.delete(item.id);
      current.set(item.id, item);
    } else open.add(item.id);
  }
  const get = async (id: string) => [id, await ifFound(api.get(id, signal))] as const;
  for await (const [id, envelope] of mapAhead([...open], READ_CONCURRENCY, get)) current.set(id, envelope);
  return current;
}

/** Returns false only if the envelope certainly hasn't changed since then. */
function mayHaveChanged({ status, sentAt, completedAt, expiresAt }: Envelope, since: number): boolean {
  const isLater = (time: string | null | undefined) => !time || Date.parse(time) >= since;
  if (status === 'DRAFT') return false;
  if (status === 'SENT') return isLater(sentAt);
  if (status === 'COMPLETED') return isLater(completedAt);
  if (status === 'EXPIRED') return isLater(expiresAt);
  return true;
}

type EnvelopeChange = Pick<Gap, 'event' | 'signer' | 'at'>;

/** Returns the changes since then that have no event. */
function findMissing(envelope: Envelope, events: Map<string, Received> | undefined, query: GapQuery): Gap[] {
  const left = [...(events?.values() ?? [])];
  const unreported = changesOf(envelope).filter((change) => !takeEvent(left, change));
  const isKnown = events !== undefined || Date.parse(envelope.createdAt ?? '') >= query.since;
  return unreported
    .filter((change) => counts(change, isKnown, query))
    .map((change) => ({
      kind: 'missing',
      envelopeId: envelope.id,
      ...change,
      deliveryId: null,
      status: envelope.status ?? null,
      why: `no ${change.event} was received${change.signer === null ? '' : ` for ${change.signer}`}`,
    }));
}

/** Removes the event of a change from the list and returns whether there was one. An event without a signer matches any signer. */
function takeEvent(left: Received[], { event, signer }: EnvelopeChange): boolean {
  const isBy = (one: Received) => signer === null || (one.signer !== null && isSame(one.signer, signer));
  const exact = left.findIndex((one) => one.event === event && isBy(one));
  const index = exact >= 0 ? exact : left.findIndex((one) => one.event === event && one.signer === null);
  if (index >= 0) left.splice(index, 1);
  return index >= 0;
}

/**
 * Returns true if the change is old enough and within the span. The API returns no time for a cancellation, which counts if this
 * machine received events of the envelope or could have received them.
 */
function counts({ at }: EnvelopeChange, isKnown: boolean, { since, now, graceMs }: GapQuery): boolean {
  if (at === null) return isKnown;
  return Date.parse(at) >= since && Math.abs(now - Date.parse(at)) >= graceMs;
}

/** Returns the changes that led to the envelope's status. Those with a signer come first. */
function changesOf(envelope: Envelope): EnvelopeChange[] {
  const { status, sentAt, completedAt, expiresAt } = envelope;
  const found: EnvelopeChange[] = [];
  const add = (event: EventName, at: string | null | undefined, signer?: string | null) =>
    found.push({ event, signer: signer ?? null, at: at ?? null });
  for (const { email, signedAt } of envelope.signers ?? [])
    if (signedAt) add('envelope.signed', signedAt, email);
  const declined = envelope.signers?.find(({ declinedAt }) => declinedAt);
  if (sentAt) add('envelope.sent', sentAt);
  if (status === 'COMPLETED') add('envelope.completed', completedAt);
  if (status === 'EXPIRED') add('envelope.expired', expiresAt);
  if (status === 'CANCELLED') add('envelope.cancelled', null);
  if (status === 'DECLINED') add('envelope.declined', declined?.declinedAt, declined?.email);
  return found;
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Returns the gap between an event and its envelope's data in the API, if there is one. */
function compareEvent(envelopeId: string, received: Received, envelope: Envelope | undefined): Gap[] {
  const { event, signer, deliveryId, receivedAt } = received;
  const status = envelope?.status ?? null;
  const why = envelope === undefined ? 'not found in the API' : contradiction(received, envelope);
  const kind = envelope === undefined ? 'unknown' : 'contradicted';
  if (why === undefined) return [];
  return [{ kind, envelopeId, event, signer, at: receivedAt, status, deliveryId, why }];
}

function contradiction({ event, signer }: Received, envelope: Envelope): string | undefined {
  const { status } = envelope;
  // An undocumented status doesn't prove a gap.
  if (!ENVELOPE_STATUSES.some((known) => known === status)) return undefined;
  const eventStatus = event.replace('envelope.', '').toUpperCase();
  // A declined envelope can still be canceled.
  const isFollowed = eventStatus === 'DECLINED' && status === 'CANCELLED';
  if (isTerminal(eventStatus) && eventStatus !== status && !isFollowed) return `the API says ${status}`;
  if (status === 'DRAFT') return 'the API says it was never sent';
  if (signer === null || !listsSigners(envelope)) return undefined;
  const one = envelope.signers?.find(({ email }) => isSame(email ?? '', signer));
  if (one === undefined) return `the API has no signer ${signer}`;
  if (event === 'envelope.signed' && one.signedAt === null)
    return `the API says that ${signer} has not signed`;
  return undefined;
}
