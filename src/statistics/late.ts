import type { Envelope } from '../api/schemas.ts';
import { type Turn, turnsOf } from '../envelopes/turns.ts';
import type { AccountEnvelopes } from './account-envelopes.ts';
import { TurnHistory, type UsualTime } from './turn-history.ts';

/** A turn that takes longer than usual. */
export interface LateTurn {
  envelope: Envelope;
  turn: Turn;
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
  const open: { envelope: Envelope; turn: Turn }[] = [];
  for await (const envelope of envelopes) {
    const turns = turnsOf(envelope);
    for (const turn of turns) history.addTurn(turn, envelope.templateId);
    if (isSelected(envelope))
      for (const turn of turns) if (turn.state === 'open') open.push({ envelope, turn });
  }
  const usualTime = ({ envelope, turn }: { envelope: Envelope; turn: Turn }): UsualTime =>
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
