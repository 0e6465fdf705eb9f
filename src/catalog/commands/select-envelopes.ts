import { type LimitFlags, limited } from '../../cli/input/limit-flags.ts';
import { clockText, grouped } from '../../kernel/duration.ts';
import { diskReason, isDiskError } from '../../kernel/files/disk-reason.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import { allOf } from '../../kernel/streams.ts';
import { type Spinner, startSpinner } from '../../output/spinner.ts';
import type { Context } from '../../session/context.ts';
import { type EnvelopeIndex, type IndexProgress, IndexUnusable } from '../index/envelope-index.ts';
import { type IndexResult, queryIndex } from '../index/query.ts';
import { isUnfiltered, newestFirst, type Selection, selectEnvelopes } from '../select.ts';

/** The envelopes of a selection. Call `total` and `hasMore` after iterating over all envelopes. */
export type Selected = Omit<IndexResult, 'knownAt'>;

/**
 * Returns the envelopes that match all conditions, in their current state: all of them or, with flags, no more than their limit.
 * If signers or metadata matter, they are read through the index, which never reads unchangeable
 * data twice; otherwise from the service's list.
 */
export async function select(
  selection: Selection,
  context: Context,
  flags: LimitFlags = { all: true },
): Promise<Selected> {
  if (needsIndex(selection)) return searchEnvelopes(selection, { limit: limited.maxItems(flags) }, context);
  let total: number | undefined;
  const envelopes = selectEnvelopes(await context.session.client(), selection, {
    pageSize: limited.pageSize(flags, isUnfiltered(selection)),
    onTotal: (known) => {
      total = known;
    },
    signal: context.interrupt.signal,
  });
  return { envelopes, total: () => total, hasMore: () => false };
}

/** Returns true if the items of a list may lack the data to filter by. */
function needsIndex({ signer, words, metadata, run }: Selection): boolean {
  return [signer, words, metadata, run].some((condition) => condition !== undefined);
}

interface SearchOptions {
  limit?: number | undefined;
  cached?: boolean | undefined;
  refresh?: boolean | undefined;
  oneSignerFirst?: boolean | undefined;
}

/** Finds the matching envelopes, newest first: in the index, which is updated first, or if it is disabled, in the service. */
export async function searchEnvelopes(
  selection: Selection,
  options: SearchOptions,
  context: Context,
): Promise<IndexResult> {
  const found = await fromIndex(
    (index, running) => queryIndex(index, selection, { ...options, ...running }),
    context,
  );
  if (found !== undefined) return found;
  const client = await context.session.client();
  const { signal } = context.interrupt;
  let total: number | undefined;
  // The order of the service's list is unknown, so all envelopes are read before the first is shown.
  async function* sorted() {
    const all = await allOf(selectEnvelopes(client, selection, { signal }));
    total = all.length;
    yield* newestFirst(all);
  }
  return { envelopes: sorted(), total: () => total, hasMore: () => false, knownAt: Date.now() };
}

/** The parts of a running command that are needed to read from the index. */
interface Running {
  signal: AbortSignal;
  onProgress: (progress: IndexProgress) => void;
}

/**
 * Reads from the index and shows the progress. Returns undefined if the index is disabled, or if it is unusable and `onUnusable`
 * doesn't throw. By default, a notice shows that the service is read instead.
 */
export async function fromIndex<T extends object>(
  read: (index: EnvelopeIndex, running: Running) => Promise<T>,
  context: Context,
  onUnusable = (why: string, _error: unknown) =>
    context.terminal.notice(`${why}. Reading all envelopes from the service.`),
): Promise<T | undefined> {
  const { session, interrupt } = context;
  const index = await session.index();
  if (index === undefined) return undefined;
  const line = new IndexProgressLine(context);
  try {
    return await read(index, { signal: interrupt.signal, onProgress: (progress) => line.show(progress) });
  } catch (error) {
    const why = unusableReason(error);
    if (why === undefined) throw error;
    await line.stop();
    onUnusable(why, error);
    return undefined;
  } finally {
    await line.stop();
  }
}

/** Returns why the index can't be used, or undefined for other errors. Searches also work if the index can't be stored. */
function unusableReason(error: unknown): string | undefined {
  if (error instanceof IndexUnusable) return error.message;
  return isDiskError(error) ? `The index can't be stored in ${stateDir()} (${diskReason(error)})` : undefined;
}

const MIN_PROGRESS_COUNT = 100;

/** Shows the progress of updating the index. Shows nothing if there is little to read. */
class IndexProgressLine {
  readonly #context: Context;
  #spinner: Promise<Spinner> | undefined;
  #step: IndexProgress['step'] | undefined;
  #startedAt = 0;
  #before = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  show(progress: IndexProgress): void {
    const { step, done, total } = progress;
    if (step !== 'other-process' && (total ?? done) <= MIN_PROGRESS_COUNT) return;
    if (step !== this.#step) [this.#step, this.#startedAt, this.#before] = [step, performance.now(), done];
    const text = this.#text(progress);
    if (this.#spinner === undefined)
      this.#spinner = startSpinner(text, this.#context.terminal, this.#context.terminal.json);
    else void this.#spinner.then((spinner) => spinner.text(text));
  }

  async stop(): Promise<void> {
    (await this.#spinner)?.stop();
    this.#spinner = undefined;
  }

  #text({ step, done, total }: IndexProgress): string {
    if (step === 'other-process')
      return 'Another esign process is reading the envelopes. Waiting for it to finish.';
    const of = total === undefined ? '' : ` of ${grouped(total)}`;
    const what = step === 'list' ? 'Listing envelopes' : 'Reading envelopes';
    return `${what} for the local index: ${grouped(done)}${of}${this.#left(done, total)}`;
  }

  #left(done: number, total: number | undefined): string {
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    const rate = (done - this.#before) / seconds;
    if (total === undefined || seconds < 1 || rate <= 0) return '';
    return `, ${clockText((total - done) / rate)} left`;
  }
}
