import type { Envelope } from '../api/schemas.ts';
import { type Selection, selectionFilter, signersMatchingAll } from '../envelopes/select.ts';
import { entryOf } from '../kernel/json.ts';
import { mapInOrder } from '../kernel/streams.ts';
import { folded, wordsOf } from '../kernel/text/words.ts';
import type { EnvelopeIndex, Refreshed, RefreshOptions } from './envelope-index.ts';
import type { OpenIndexFile } from './index-file.ts';
import { isListCheaper, type Known, type Question, type Snapshot } from './snapshot.ts';

export interface AnswerOptions extends Pick<RefreshOptions, 'signal' | 'onProgress'> {
  /** So many at most. */
  limit?: number | undefined;
  /** From what is known alone, however old. */
  cached?: boolean | undefined;
  /** Puts envelopes whose signer matches every word before those where the words fall on several people. */
  oneSignerFirst?: boolean | undefined;
  /** The service's time. */
  now: () => number;
}

/** The envelopes that fit, the newest first, and what is known of them all. */
export interface Answer {
  envelopes: AsyncGenerator<Envelope, void, undefined>;
  /** How many fit in all, the limit aside; undefined where only looking at each would tell. Ask when all were taken. */
  total(): number | undefined;
  /** True when there may be more than the limit allowed. */
  hasMore(): boolean;
  /** When all envelopes were known the last time, in ms; undefined: never. */
  knownAt: number | undefined;
}

const CONCURRENCY = 8;

/**
 * What the index answers to a selection. Unless `cached`, every envelope that can still change is asked for again before it
 * is handed over, and no more of them than are wanted.
 * @throws IndexUnusable
 */
export async function answerFrom(
  index: EnvelopeIndex,
  selection: Selection,
  options: AnswerOptions,
): Promise<Answer> {
  const { cached, signal, onProgress } = options;
  const askedAt = Date.now();
  const question = questionOf(selection);
  const couldFit = couldFitNow(selection, options.now);
  const asking = { signal, onProgress, mayAnswer: couldFit };
  const hitsIn = ({ known, members }: Snapshot) => {
    const belongs = ({ id }: Known) => members?.has(id) ?? true;
    const hits = [...known.values()]
      .filter((one) => one.hit && couldFit(one) && belongs(one))
      .sort(newestFirst);
    return options.oneSignerFirst ? oneSignerFirst(hits, selection, index) : hits;
  };
  let now = cached ? asKnown(await index.known(question)) : await index.refreshed(question, asking);
  let hits = hitsIn(now.snapshot);
  const lookups = outdated(hits.slice(0, options.limit), { askedAt, unsure: now.unsure });
  if (!cached && isListCheaper(now.snapshot, lookups, askedAt)) {
    now = await index.relisted(question, now, asking);
    hits = hitsIn(now.snapshot);
  }
  const { snapshot, unsure } = now;
  const answering = new Answering(index, hits, { askedAt, unsure }, selection, options);
  return {
    envelopes: answering.envelopes(),
    total: () => answering.total(),
    hasMore: () => answering.hasMore(),
    knownAt: snapshot.completeness?.complete,
  };
}

function asKnown(snapshot: Snapshot): Refreshed {
  return { snapshot, unsure: new Set() };
}

/** How many of these have to be requested again. */
function outdated(hits: readonly Known[], asked: Asked): number {
  return hits.filter((one) => !isAsItStands(one, asked)).length;
}

/** True when the service would say nothing else: it can't change any more, or it was read after the question came. */
function isAsItStands(hit: Known, { askedAt, unsure }: Asked): boolean {
  if (unsure.has(hit.id) || hit.touched) return false;
  return hit.known === 'final' || (hit.known === 'whole' && hit.seen >= askedAt);
}

/** What the lines of the index are searched for: no envelope that fits lacks it. */
export function questionOf({ search, signer, templateId, metadata = [], run }: Selection): Question {
  return {
    words: search === undefined ? [] : wordsOf(search),
    part: signer === undefined ? undefined : folded(signer),
    template: templateId === undefined ? undefined : folded(templateId),
    values: metadata.map(([, value]) => folded(value)).filter((value) => value !== ''),
    run,
  };
}

/** The states that an envelope may have come to since it was in this one. */
const NEXT: Readonly<Record<string, readonly string[]>> = {
  COMPLETED: [],
  CANCELLED: [],
  EXPIRED: [],
  DECLINED: ['CANCELLED'],
  IN_PROGRESS: ['COMPLETED', 'CANCELLED', 'EXPIRED', 'DECLINED'],
  SENT: ['IN_PROGRESS', 'COMPLETED', 'CANCELLED', 'EXPIRED', 'DECLINED'],
};

/** By what never changes and by where it stood: whether an envelope may fit now. */
export function couldFitNow({ statuses, createdAfter, createdBefore }: Selection, now: () => number) {
  return ({ status, created, touched }: Known): boolean => {
    const time = now();
    if (createdAfter !== undefined && created < createdAfter(time)) return false;
    if (createdBefore !== undefined && created > createdBefore(time)) return false;
    if (statuses === undefined || touched || statuses.includes(status)) return true;
    const next = entryOf(NEXT, status);
    return next === undefined || next.some((one) => statuses.includes(one));
  };
}

/** By id where the times are equal, so that the order is the same each time. */
function newestFirst(a: Known, b: Known): number {
  return (b.created || 0) - (a.created || 0) || (a.id < b.id ? 1 : -1);
}

/** Keeps the order among the envelopes that match in one signer, and among the others. */
function oneSignerFirst(hits: Known[], { search }: Selection, index: EnvelopeIndex): Known[] {
  const words = wordsOf(search ?? '');
  if (words.length < 2 || hits.length < 2) return hits;
  const file = index.file.open();
  try {
    const isOneSigner = (hit: Known) => signersMatchingAll(file.envelope(hit), words).length > 0;
    const first = new Set(hits.filter(isOneSigner));
    return [...first, ...hits.filter((hit) => !first.has(hit))];
  } finally {
    file.close();
  }
}

/** When the question came, and what the service's list does not show. */
interface Asked {
  askedAt: number;
  unsure: ReadonlySet<string>;
}

class Answering {
  readonly #index: EnvelopeIndex;
  readonly #hits: readonly Known[];
  readonly #asked: Asked;
  readonly #selection: Selection;
  readonly #options: AnswerOptions;
  #shown = 0;
  /** How many of the hits were looked at. */
  #looked = 0;

  constructor(
    index: EnvelopeIndex,
    hits: readonly Known[],
    asked: Asked,
    selection: Selection,
    options: AnswerOptions,
  ) {
    this.#index = index;
    this.#hits = hits;
    this.#asked = asked;
    this.#selection = selection;
    this.#options = options;
  }

  hasMore(): boolean {
    return this.#looked < this.#hits.length;
  }

  total(): number | undefined {
    if (!this.hasMore()) return this.#shown;
    const { search: _, run: __, ...rest } = this.#selection;
    const isExact = Object.values(rest).every((value) => value === undefined);
    return isExact ? this.#hits.length - (this.#looked - this.#shown) : undefined;
  }

  async *envelopes(): AsyncGenerator<Envelope, void, undefined> {
    const { limit = Number.POSITIVE_INFINITY, now } = this.#options;
    // The hits are of the run, also those that only replace an envelope of it.
    const selection = { ...this.#selection, run: undefined };
    if (this.#hits.length === 0) return;
    const file = this.#index.file.open();
    try {
      while (this.hasMore() && this.#shown < limit) {
        // No more are asked for than are wanted.
        const some = this.#hits.slice(this.#looked, this.#looked + limit - this.#shown);
        for await (const one of mapInOrder(some, CONCURRENCY, (hit) => this.#look(hit, file))) {
          this.#looked++;
          if (one === undefined || !selectionFilter(selection, now())(one)) continue;
          this.#shown++;
          yield one;
        }
      }
    } finally {
      file.close();
    }
  }

  /** The envelope as it is now, or as it was known; undefined when there is none any more. */
  async #look(hit: Known, file: OpenIndexFile): Promise<Envelope | undefined> {
    const known = file.envelope(hit);
    if (this.#options.cached) return known && hit.touched ? { ...known, status: hit.status } : known;
    if (known !== undefined && isAsItStands(hit, this.#asked)) return known;
    return this.#index.now(hit.id, this.#options.signal);
  }
}
