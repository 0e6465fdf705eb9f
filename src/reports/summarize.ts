import type { Envelope } from '../api/schemas.ts';
import type { AccountEnvelopes } from '../catalog/index/query.ts';
import { turnsOf } from '../catalog/turns.ts';
import { timeOf } from '../kernel/clock.ts';
import { DAY_MS } from '../kernel/duration.ts';
import { isVoid } from '../kernel/vocabulary.ts';
import { type Attention, AttentionList } from './attention.ts';
import { type GroupBy, type GroupKey, groupOf, weekOf } from './groups.ts';
import { LateTurns } from './late-turns.ts';
import { EnvelopeTally, type Figures } from './tally.ts';

export type GroupFigures = GroupKey & Figures;

export interface StatisticsReport extends Figures {
  /** Whatever the period. */
  attention: Attention;
  /** The earliest possible creation time, ISO 8601; null for no limit. */
  since: string | null;
  until: string;
  groups: GroupFigures[];
}

/** The numbers of envelopes sent and completed in an ISO week, for the chart of a report. */
export interface WeekFigures {
  week: string;
  sent: number;
  completed: number;
}

export interface ReportOptions {
  /** The earliest and the latest creation time of the envelopes whose figures are reported. In ms, like all times here. */
  since: number | null;
  until: number | null;
  now: number;
  by: GroupBy | undefined;
}

/**
 * Computes the figures of the selected envelopes that were created in the period and sent, and finds the selected ones that need
 * attention, whatever their age. All envelopes count as history.
 */
export async function computeReport(
  { envelopes, isSelected }: AccountEnvelopes,
  { since, until, now, by }: ReportOptions,
): Promise<{ report: StatisticsReport; weeks: WeekFigures[] }> {
  const attention = new AttentionList(now);
  const late = new LateTurns({ now });
  const total = new EnvelopeTally(now);
  const groups = new Groups(now, by);
  const weeks = new Weeks();
  for await (const envelope of envelopes) {
    const turns = turnsOf(envelope);
    const isOne = isSelected(envelope);
    late.add(envelope, turns, isOne);
    attention.add(envelope, isOne);
    if (!isOne || !wasSent(envelope) || !isCreatedWithin(envelope, since, until)) continue;
    total.addEnvelope(envelope, turns);
    groups.add(envelope, turns);
    weeks.add(envelope);
  }
  const iso = (ms: number) => new Date(ms).toISOString();
  return {
    report: {
      attention: attention.list(late.list()),
      since: since === null ? null : iso(since),
      until: iso(until ?? now),
      ...total.figures(),
      groups: groups.figures(),
    },
    weeks: weeks.list(),
  };
}

/** Returns true for an envelope that was sent. Drafts and canceled drafts never were. */
function wasSent(envelope: Envelope): boolean {
  return envelope.status !== 'DRAFT' && !isVoid(envelope);
}

/** Without limits, an envelope without a time counts, too. */
function isCreatedWithin({ createdAt }: Envelope, since: number | null, until: number | null): boolean {
  const created = timeOf(createdAt);
  return (since === null || created >= since) && (until === null || created <= until);
}

class Groups {
  readonly #now: number;
  readonly #by: GroupBy | undefined;
  readonly #groups = new Map<string | null, { tally: EnvelopeTally; name: string | null; namedAt: number }>();

  constructor(now: number, by: GroupBy | undefined) {
    this.#now = now;
    this.#by = by;
  }

  add(envelope: Envelope, turns: ReturnType<typeof turnsOf>): void {
    if (this.#by === undefined) return;
    if (this.#by.kind !== 'role') {
      this.#of(groupOf(envelope, this.#by), envelope).addEnvelope(envelope, turns);
      return;
    }
    for (const turn of turns) {
      const key = turn.signer.role || null;
      this.#of({ key, name: key }, envelope).addTurn(turn, envelope);
    }
  }

  figures(): GroupFigures[] {
    const isByTime = this.#by?.kind === 'month' || this.#by?.kind === 'week';
    const byKey = (a: GroupFigures, b: GroupFigures) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1);
    return [...this.#groups]
      .map(([key, { tally, name }]) => ({ key, name, ...tally.figures() }))
      .sort((a, b) => {
        if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null);
        return (isByTime ? 0 : b.sent - a.sent) || byKey(a, b);
      });
  }

  /** Returns the tally of a group, and updates the group's name: a template may have been renamed, and its latest name counts. */
  #of({ key, name }: GroupKey, { createdAt }: Envelope): EnvelopeTally {
    const created = timeOf(createdAt) || 0;
    const group = this.#groups.get(key) ?? { tally: new EnvelopeTally(this.#now), name, namedAt: created };
    if (created >= group.namedAt) Object.assign(group, { name, namedAt: created });
    this.#groups.set(key, group);
    return group.tally;
  }
}

const WEEK_MS = 7 * DAY_MS;

class Weeks {
  readonly #weeks = new Map<string, WeekFigures>();
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;

  add({ sentAt, completedAt }: Envelope): void {
    this.#count(timeOf(sentAt), 'sent');
    this.#count(timeOf(completedAt), 'completed');
  }

  /** Returns the weeks without gaps, earliest first. */
  list(): WeekFigures[] {
    const weeks: WeekFigures[] = [];
    for (let at = this.#first; at < this.#last + WEEK_MS; at += WEEK_MS) {
      const week = weekOf(Math.min(at, this.#last));
      if (weeks.at(-1)?.week !== week) weeks.push(this.#weeks.get(week) ?? { week, sent: 0, completed: 0 });
    }
    return weeks;
  }

  #count(at: number, what: 'sent' | 'completed'): void {
    if (Number.isNaN(at)) return;
    const week = weekOf(at);
    const figures = this.#weeks.get(week) ?? { week, sent: 0, completed: 0 };
    figures[what]++;
    this.#weeks.set(week, figures);
    this.#first = Math.min(this.#first, at);
    this.#last = Math.max(this.#last, at);
  }
}
