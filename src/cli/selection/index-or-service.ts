import {
  type EnvelopeIndex,
  type IndexProgress,
  IndexUnusable,
} from '../../envelope-index/envelope-index.ts';
import { clockText, grouped } from '../../kernel/duration.ts';
import { diskReason, isDiskError } from '../../kernel/files/disk-reason.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import { type Spinner, startSpinner } from '../../output/spinner.ts';
import type { Context } from '../context.ts';

/** The parts of a running command that are needed to read from the index. */
interface Running {
  signal: AbortSignal;
  onProgress: (progress: IndexProgress) => void;
}

/** Reads from the index and shows the progress. Falls back to the service if the index is missing or unusable. */
export async function indexOrService<T>(
  read: { index: (index: EnvelopeIndex, running: Running) => Promise<T>; service: () => Promise<T> },
  context: Context,
): Promise<T> {
  const { session, terminal, interrupt } = context;
  const index = await session.index();
  if (index === undefined) return read.service();
  const line = new IndexProgressLine(context);
  try {
    return await read.index(index, {
      signal: interrupt.signal,
      onProgress: (progress) => line.show(progress),
    });
  } catch (error) {
    const why = unusableReason(error);
    if (why === undefined) throw error;
    await line.stop();
    terminal.notice(`${why}. Reading all envelopes from the service.`);
    return await read.service();
  } finally {
    await line.stop();
  }
}

/** Returns why the index can't be used, or undefined for other errors. Searches also work if the index can't be stored. */
export function unusableReason(error: unknown): string | undefined {
  if (error instanceof IndexUnusable) return error.message;
  return isDiskError(error) ? `The index can't be stored in ${stateDir()} (${diskReason(error)})` : undefined;
}

/** Reading fewer envelopes than this shows no progress. */
const MIN_PROGRESS_COUNT = 100;

/** Shows the progress of updating the index. Shows nothing if there is little to read. */
export class IndexProgressLine {
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
