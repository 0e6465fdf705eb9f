import type { IndexProgress } from '../catalog/index/envelope-index.ts';
import type { Context } from '../cli/session/context.ts';
import { clockText, grouped } from '../kernel/duration.ts';
import { type Spinner, startSpinner } from '../output/spinner.ts';

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
    if ((total ?? done) <= MIN_PROGRESS_COUNT) return;
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
    const of = total === undefined ? '' : ` of ${grouped(total)}`;
    const what = step === 'list' ? 'Listing envelopes' : 'Reading envelopes';
    return `${what}: ${grouped(done)}${of}${this.#left(done, total)}`;
  }

  #left(done: number, total: number | undefined): string {
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    const rate = (done - this.#before) / seconds;
    if (total === undefined || seconds < 1 || rate <= 0) return '';
    return `, ${clockText((total - done) / rate)} left`;
  }
}
