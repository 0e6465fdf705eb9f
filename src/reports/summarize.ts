import type { Envelope } from '../api/resource-types.ts';
import type { AccountEnvelopes } from '../catalog/index/search-index.ts';
import { turnsOf } from '../catalog/turns.ts';
import { timeOf } from '../kernel/clock.ts';
import { isVoid } from '../kernel/statuses.ts';
import { AttentionList, type EnvelopesNeedingAttention } from './attention.ts';
import { type GroupBy, type GroupKey, groupOf, weekName, weekNumberOf } from './groups.ts';
import { LateTurns } from './late-turns.ts';
import { EnvelopeTally, type EnvelopeTimes, type Figures } from './tally.ts';

export type GroupFigures = GroupKey & Figures;

export interface StatisticsReport extends Figures {
  /** Whatever the period. */
  attention: EnvelopesNeedingAttention;
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

export interface ReportPeriod {
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
  { since, until, now, by }: ReportPeriod,
): Promise<{ report: StatisticsReport; weeks: WeekFigures[] }> {
  const attention = new AttentionList(now);
  const late = new LateTurns({ now });
  const total = new EnvelopeTally(now);
  const groups = new Groups(now, by);
  const weeks = new Weeks(now);
  for await (const envelope of envelopes) {
    const turns = turnsOf(envelope);
    const isOne = isSelected(envelope);
    late.add(envelope, turns, isOne);
    attention.add(envelope, isOne);
    if (!isOne || !wasSent(envelope)) continue;
    const times = timesOf(envelope);
    if (!isWithin(times.createdAt, since, until)) continue;
    total.addEnvelope(envelope, times, turns);
    groups.add(envelope, times, turns);
    weeks.add(times);
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

/** Parsed once, because there may be a hundred thousand envelopes. */
function timesOf({ createdAt, sentAt, completedAt }: Envelope): EnvelopeTimes {
  return { createdAt: timeOf(createdAt), sentAt: timeOf(sentAt), completedAt: timeOf(completedAt) };
}

/** Without limits, an envelope without a time counts, too. */
function isWithin(created: number, since: number | null, until: number | null): boolean {
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

  add(envelope: Envelope, times: EnvelopeTimes, turns: ReturnType<typeof turnsOf>): void {
    if (this.#by === undefined) return;
    if (this.#by.kind !== 'role') {
      this.#of(groupOf(envelope, this.#by), times).addEnvelope(envelope, times, turns);
      return;
    }
    for (const turn of turns) {
      const key = turn.signer.role || null;
      this.#of({ key, name: key }, times).addTurn(turn, envelope);
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
  #of({ key, name }: GroupKey, { createdAt }: EnvelopeTimes): EnvelopeTally {
    const created = createdAt || 0;
    const group = this.#groups.get(key) ?? { tally: new EnvelopeTally(this.#now), name, namedAt: created };
    if (created >= group.namedAt) Object.assign(group, { name, namedAt: created });
    this.#groups.set(key, group);
    return group.tally;
  }
}

/** The longest chart, in weeks. A service may write a missing time as the year 1 or 9999. */
const MAX_WEEKS = 520;

class Weeks {
  readonly #now: number;
  /** By the number of the week. */
  readonly #weeks = new Map<number, Omit<WeekFigures, 'week'>>();

  constructor(now: number) {
    this.#now = now;
  }

  add({ sentAt, completedAt }: EnvelopeTimes): void {
    this.#count(sentAt, 'sent');
    this.#count(completedAt, 'completed');
  }

  /** Returns the latest weeks until now without gaps, earliest first. */
  list(): WeekFigures[] {
    const latest = weekNumberOf(this.#now);
    const numbers = [...this.#weeks.keys()]
      .filter((number) => number <= latest && number > latest - MAX_WEEKS)
      .sort((a, b) => a - b);
    const [first = 0, last = -1] = [numbers[0], numbers.at(-1)];
    return Array.from({ length: last - first + 1 }, (_, index) => ({
      week: weekName(first + index),
      ...(this.#weeks.get(first + index) ?? { sent: 0, completed: 0 }),
    }));
  }

  #count(at: number, what: 'sent' | 'completed'): void {
    if (Number.isNaN(at)) return;
    const week = weekNumberOf(at);
    const figures = this.#weeks.get(week) ?? { sent: 0, completed: 0 };
    figures[what]++;
    this.#weeks.set(week, figures);
  }
}
