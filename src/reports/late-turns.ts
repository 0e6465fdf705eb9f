import type { Envelope } from '../api/resource-types.ts';
import type { AccountEnvelopes } from '../catalog/index/search-index.ts';
import { type Turn, turnsOf } from '../catalog/turns.ts';
import { DAY_MS } from '../kernel/duration.ts';
import { hasOpened } from '../kernel/statuses.ts';
import { scanEvents } from '../webhooks/journal/event-journal.ts';
import { payloadTimeOf } from '../webhooks/journal/history.ts';
import type { EventRecord } from '../webhooks/journal/record.ts';
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
  /** A fixed time after which a turn is late instead, in ms. */
  afterMs?: number | undefined;
}

/** Finds the open turns that take longer than usual. All envelopes count as history. */
export class LateTurns {
  readonly #options: LateOptions;
  readonly #history: TurnHistory;
  readonly #open: OpenTurn[] = [];

  constructor(options: LateOptions) {
    this.#options = options;
    this.#history = new TurnHistory(options.now);
  }

  add(envelope: Envelope, turns: readonly Turn[], isSelected: boolean): void {
    for (const turn of turns) {
      this.#history.addTurn(turn, envelope.templateId);
      if (isSelected && turn.state === 'open') this.#open.push({ envelope, turn });
    }
  }

  /** Returns the late turns of the selected envelopes, longest first. */
  list(): LateTurn[] {
    const { now } = this.#options;
    return this.#open
      .map((one) => ({ ...one, waitingMs: now - one.turn.beganAt, usual: this.#usualTime(one) }))
      .filter(({ waitingMs, usual }) => waitingMs > usual.percentileMs)
      .sort((a, b) => b.waitingMs - a.waitingMs);
  }

  #usualTime({ envelope }: OpenTurn): UsualTime {
    const { afterMs } = this.#options;
    if (afterMs !== undefined) return { percentileMs: afterMs, basis: 'fixed', samples: 0 };
    return this.#history.usualTime(envelope.templateId);
  }
}

/** Returns the late turns of the selected envelopes, longest first. */
export async function findLate(
  { envelopes, isSelected }: AccountEnvelopes,
  options: LateOptions,
): Promise<LateTurn[]> {
  const late = new LateTurns(options);
  for await (const envelope of envelopes) late.add(envelope, turnsOf(envelope), isSelected(envelope));
  return late.list();
}

/** When the signers of an envelope opened it, according to verified webhooks. The signer is an address; null if it is left out. */
type Views = ReadonlyMap<string, readonly { signer: string | null; at: number }[]>;

/** Reads from the journal of `listen` on this machine who opened the envelopes of these turns. `ahead`: how far the service's clock is ahead, in ms. */
export async function readOpenings(
  eventsFolder: string,
  turns: readonly OpenTurn[],
  { now, ahead }: { now: number; ahead: number },
): Promise<Views> {
  const views = new Map<string, { signer: string | null; at: number }[]>();
  const wanted = new Set(turns.map(({ envelope }) => envelope.id));
  const earliest = turns.reduce((least, { turn }) => Math.min(least, turn.beganAt), now);
  const take = (record: EventRecord) => {
    const { envelopeId, event, signer, verified } = record;
    if (envelopeId === null || !wanted.has(envelopeId) || event !== 'envelope.viewed' || !verified) return;
    const at = payloadTimeOf(record) ?? Date.parse(record.receivedAt);
    views.set(envelopeId, [...(views.get(envelopeId) ?? []), { signer, at }]);
  };
  await scanEvents(eventsFolder, earliest - Math.max(0, ahead) - DAY_MS, take, () => undefined);
  return views;
}

/**
 * Returns true if the signer's status or a verified webhook shows that the signer has opened the envelope during the turn, otherwise
 * null: a missing view shows nothing, because no machine receives every webhook.
 */
export function isOpened({ envelope, turn }: OpenTurn, views: Views): true | null {
  if (hasOpened(turn.signer)) return true;
  const isView = ({ signer, at }: { signer: string | null; at: number }) =>
    at >= turn.beganAt && belongsTo(signer, { envelope, turn });
  return (views.get(envelope.id) ?? []).some(isView) || null;
}

/** Returns true if the address identifies this signer. A view without an address belongs to the only signer. */
function belongsTo(address: string | null, { envelope, turn }: OpenTurn): boolean {
  const signers = envelope.signers ?? [];
  if (address === null) return signers.length === 1;
  const named = signers.filter(({ email }) => sameAddress(address, email));
  return named.length === 1 && sameAddress(address, turn.signer.email);
}

function sameAddress(one: string, other: string | null | undefined): boolean {
  return one.toLowerCase() === other?.toLowerCase();
}
