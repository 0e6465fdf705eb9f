import type { Envelope } from '../api/schemas.ts';
import { type Turn, turnsOf } from '../envelopes/turns.ts';
import { DAY_MS } from '../kernel/duration.ts';
import { type CoveredSpan, covers, readCoverage } from '../webhooks/journal/coverage.ts';
import { scanEvents } from '../webhooks/journal/event-journal.ts';
import { payloadTimeOf } from '../webhooks/journal/history.ts';
import type { EventRecord } from '../webhooks/journal/record.ts';
import type { AccountEnvelopes } from './account-envelopes.ts';
import { TurnHistory, type UsualTime } from './turn-history.ts';

interface OpenTurn {
  envelope: Envelope;
  turn: Turn;
}

/** A turn that takes longer than usual. */
export interface LateTurn extends OpenTurn {
  waitingMs: number;
  usual: UsualTime;
}

export interface LateOptions {
  /** The service's time, in ms. */
  now: number;
  /** The percentile of finished turns (0–100) after which a turn is late. */
  percent: number;
  /** A fixed time after which a turn is late instead, in ms. */
  afterMs?: number | undefined;
}

/**
 * Returns the open turns of the selected envelopes that take longer than usual, sorted by the ratio to the usual time, longest
 * first. All envelopes count as history.
 */
export async function findLate(
  { envelopes, isSelected }: AccountEnvelopes,
  { now, percent, afterMs }: LateOptions,
): Promise<LateTurn[]> {
  const history = new TurnHistory(now);
  const open: OpenTurn[] = [];
  for await (const envelope of envelopes) {
    const turns = turnsOf(envelope);
    for (const turn of turns) history.addTurn(turn, envelope.templateId);
    if (isSelected(envelope))
      for (const turn of turns) if (turn.state === 'open') open.push({ envelope, turn });
  }
  const usualTime = ({ envelope, turn }: OpenTurn): UsualTime =>
    afterMs === undefined
      ? history.usualTime({ templateId: envelope.templateId, role: turn.signer.role }, percent)
      : { medianMs: null, percentileMs: afterMs, basis: 'fixed', samples: 0 };
  return open
    .map((one) => ({ ...one, waitingMs: now - one.turn.beganAt, usual: usualTime(one) }))
    .filter(({ waitingMs, usual }) => waitingMs > usual.percentileMs)
    .sort(byProportion);
}

function byProportion(a: LateTurn, b: LateTurn): number {
  const proportion = ({ waitingMs, usual }: LateTurn) => waitingMs / Math.max(1, usual.percentileMs);
  return proportion(b) - proportion(a) || b.waitingMs - a.waitingMs;
}

/**
 * The maximum delay between a webhook's own timestamp and its receipt, in ms. After a longer delay, others may have been missed.
 */
const DELAY_MS = 5 * 60_000;

/** A webhook about an envelope. Times are in ms: `at` by the service's clock, `receivedAt` by this machine's. */
interface Received extends Pick<EventRecord, 'event' | 'signer' | 'verified'> {
  isAccepted: boolean;
  at: number;
  receivedAt: number;
}

/** The webhooks that listeners on this machine received. */
interface WebhookRecord {
  byEnvelope: ReadonlyMap<string, readonly Received[]>;
  /** True if lines of the journal could not be read. */
  isDamaged: boolean;
  coverage: readonly CoveredSpan[];
  /** The time when it was read, by this machine's clock. */
  readAt: number;
}

/** Reads the webhooks that listeners on this machine received about the envelopes of these turns. */
export async function readWebhooks(
  eventsFolder: string,
  turns: readonly OpenTurn[],
  { serviceNow, machineNow }: { serviceNow: number; machineNow: number },
): Promise<WebhookRecord> {
  const byEnvelope = new Map<string, Received[]>(turns.map(({ envelope }) => [envelope.id, []]));
  const earliest = turns.reduce((least, { turn }) => Math.min(least, turn.beganAt), serviceNow);
  const ahead = Math.max(0, serviceNow - machineNow);
  let isDamaged = false;
  const take = (record: EventRecord) => {
    const { envelopeId, event, signer, verified, reason } = record;
    if (envelopeId === null) return;
    const receivedAt = Date.parse(record.receivedAt);
    const at = payloadTimeOf(record) ?? receivedAt;
    byEnvelope
      .get(envelopeId)
      ?.push({ event, signer, verified, isAccepted: reason === null, at, receivedAt });
  };
  await scanEvents(eventsFolder, earliest - ahead - DAY_MS, take, () => {
    isDamaged = true;
  });
  return {
    byEnvelope,
    isDamaged,
    coverage: await readCoverage(eventsFolder, machineNow),
    readAt: machineNow,
  };
}

/**
 * Returns whether the signer has opened the envelope since the turn began: true if a verified webhook shows it; false if a
 * listener on this machine has received everything since then without one; otherwise null.
 */
export function isOpened({ envelope, turn }: OpenTurn, webhooks: WebhookRecord): boolean | null {
  const received = webhooks.byEnvelope.get(envelope.id) ?? [];
  const views = received.filter(
    ({ event, signer, at }) =>
      event === 'envelope.viewed' &&
      at >= turn.beganAt &&
      (signer === null || sameAddress(signer, turn.signer.email)),
  );
  if (views.some(({ signer, verified }) => verified && belongsTo(signer, { envelope, turn }))) return true;
  if (views.length > 0 || webhooks.isDamaged || !envelope.webhookUrl) return null;
  const began = received.find((one) => startsTurn(one, turn));
  if (began === undefined) return null;
  return covers(webhooks.coverage, envelope.webhookUrl, began.receivedAt, webhooks.readAt) ? false : null;
}

/**
 * Returns true for the webhook about the event that began the turn, received without delay. It shows that the listener was
 * running by then.
 */
function startsTurn({ event, verified, isAccepted, at, receivedAt }: Received, { beganAt }: Turn): boolean {
  const isBeginning = event === 'envelope.sent' || event === 'envelope.signed';
  return (
    isBeginning && verified && isAccepted && Math.abs(at - beganAt) <= DELAY_MS && receivedAt - at <= DELAY_MS
  );
}

/**
 * Returns true if the address identifies exactly one signer. An address that several signers share identifies none of them. A
 * view without an address belongs to the only signer.
 */
function belongsTo(address: string | null, { envelope }: OpenTurn): boolean {
  const signers = envelope.signers ?? [];
  if (address === null) return signers.length === 1;
  return signers.filter(({ email }) => sameAddress(address, email)).length === 1;
}

function sameAddress(one: string, other: string | null | undefined): boolean {
  return one.toLowerCase() === other?.toLowerCase();
}
