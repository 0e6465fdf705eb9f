import { ENVELOPE_STATUSES, IN_FLIGHT, LIMITS } from '../../kernel/vocabulary.ts';

/** The list of all envelopes, beside those of one status each. */
export const ALL = '';

/** What is known of the lists. */
export interface ListSurvey {
  /** How many pages a list had when it was last read. */
  pages: ReadonlyMap<string, number>;
  /** How many of them have been read in this look. */
  read: ReadonlyMap<string, number>;
  /** Lists with nothing more to read in this look. */
  done: ReadonlySet<string>;
  /** False for a service that ignores the status filter. */
  filters: boolean;
  /** How many are expected to have left the lists of their statuses; each is then asked for by itself. */
  leaving: number;
}

/** What to read next: a page of a list, or the envelopes one by one. */
export type PollStep = { list: string } | 'each';

/** The whole list may cost so much more than those of some statuses: it is the surer way. */
const SLACK = 1;

/**
 * The cheapest way, in requests, to see the rest of the envelopes. It is asked again after every page, so that a list
 * turns out too long on its first page and not on its last.
 * @param rest the envelopes still to be seen, with the status each had when last seen
 * @param always statuses whose lists are read in any case, since new envelopes may be in them
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
  if (all <= each && all <= byStatus.cost + survey.leaving + SLACK) return { list: ALL };
  const [first] = byStatus.lists;
  return first !== undefined && byStatus.cost < each ? { list: first } : 'each';
}

/** Of unknown length it is taken to be as long as the lists of statuses together. */
function costOfAll(rest: ReadonlyMap<string, string | undefined>, survey: ListSurvey): number {
  if (survey.done.has(ALL)) return Number.POSITIVE_INFINITY;
  const parts = ENVELOPE_STATUSES.reduce((sum, status) => sum + (survey.pages.get(status) ?? 0), 0);
  return costOfList(ALL, Math.max(rest.size, parts * LIMITS.pageSize), survey);
}

function costOfList(list: string, expected: number, { pages, read }: ListSurvey): number {
  const known = pages.get(list) ?? Math.ceil(expected / LIMITS.pageSize);
  return Math.max(1, known - (read.get(list) ?? 0));
}

/** The lists of the statuses the envelopes had, in the order an envelope goes through them; the rest one by one. */
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
