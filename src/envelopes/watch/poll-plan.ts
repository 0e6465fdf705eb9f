import { ENVELOPE_STATUSES, IN_FLIGHT, LIMITS } from '../../kernel/vocabulary.ts';

/** The unfiltered list, as opposed to the list of one status. */
export const ALL = '';

/** The known facts about the lists. */
export interface ListSurvey {
  /** The number of pages each list had when it was last read. */
  pages: ReadonlyMap<string, number>;
  /** The number of pages read in this poll. */
  read: ReadonlyMap<string, number>;
  /** Lists that were read to the end in this poll. */
  done: ReadonlySet<string>;
  /** False for a service that ignores the status filter. */
  filters: boolean;
  /** The number of envelopes expected to have left the list of their status. Each has to be read by ID. */
  leaving: number;
}

/** What to read next: a page of a list, or each envelope by ID. */
export type PollStep = { list: string } | 'each';

/** The unfiltered list is preferred unless it takes this many times the requests, because it is more reliable. */
const COST_TOLERANCE = 1;

/**
 * Returns the next step of the way that needs the fewest requests for the remaining envelopes. It is decided after every page,
 * so that a list that is too long is noticed on its first page.
 * @param rest the envelopes still to be read, with their last known statuses
 * @param always statuses whose lists are always read, because new envelopes may be in them
 */
export function nextStep(
  rest: ReadonlyMap<string, string | undefined>,
  always: readonly string[],
  survey: ListSurvey,
): PollStep {
  const must = survey.done.has(ALL) ? [] : always.filter((status) => !survey.done.has(status));
  if (must.length > 0 && !survey.filters) return { list: ALL };
  const byStatus = costByStatus(rest, must, survey);
  const each = must.length > 0 ? Number.POSITIVE_INFINITY : rest.size;
  const all = costOfAll(rest, survey);
  if (all <= each && all <= byStatus.cost + survey.leaving + COST_TOLERANCE) return { list: ALL };
  const [first] = byStatus.lists;
  return first !== undefined && byStatus.cost < each ? { list: first } : 'each';
}

/** If the length isn't known, it is assumed to be that of the status lists together. */
function costOfAll(rest: ReadonlyMap<string, string | undefined>, survey: ListSurvey): number {
  if (survey.done.has(ALL)) return Number.POSITIVE_INFINITY;
  const parts = ENVELOPE_STATUSES.reduce((sum, status) => sum + (survey.pages.get(status) ?? 0), 0);
  return costOfList(ALL, Math.max(rest.size, parts * LIMITS.pageSize), survey);
}

function costOfList(list: string, expected: number, { pages, read }: ListSurvey): number {
  const known = pages.get(list) ?? Math.ceil(expected / LIMITS.pageSize);
  return Math.max(1, known - (read.get(list) ?? 0));
}

/** The lists of the last known statuses, in the order of an envelope's life; the rest by ID. */
function costByStatus(
  rest: ReadonlyMap<string, string | undefined>,
  must: readonly string[],
  survey: ListSurvey,
): { lists: string[]; cost: number } {
  const expected = new Map<string, number>(must.map((status) => [status, 0]));
  let single = 0;
  const expect = (status: string, amount: number) => {
    const isReadable =
      survey.filters && ENVELOPE_STATUSES.some((known) => known === status) && !survey.done.has(status);
    if (isReadable) expected.set(status, (expected.get(status) ?? 0) + amount);
    else single += amount;
  };
  for (const status of rest.values()) {
    if (status !== undefined) expect(status, 1);
    else if (IN_FLIGHT.every((one) => survey.done.has(one))) single++;
    else for (const one of IN_FLIGHT) expect(one, 1 / IN_FLIGHT.length);
  }
  const lists = ENVELOPE_STATUSES.filter((status) => expected.has(status));
  const pages = lists.map((status) => costOfList(status, expected.get(status) ?? 0, survey));
  return { lists, cost: pages.reduce((sum, cost) => sum + cost, 0) + Math.ceil(single) };
}
