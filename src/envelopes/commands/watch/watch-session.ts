import { runCommand } from '../../../cli/input/run-command.ts';
import type { Context } from '../../../cli/session/context.ts';
import { counted } from '../../../kernel/duration.ts';
import { messageOf, PartialError, sentenceOf, UnexpectedStatusError } from '../../../kernel/errors.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import { jsonText } from '../../../output/json.ts';
import { isOver, type StatusChange, type WatchEvent } from '../../watch/watch-envelopes.ts';
import type { WatchDisplay } from './watch-display.ts';

const MAX_LISTED = 10;

export interface WatchProgress {
  /** The number of watched envelopes. */
  total: number;
  until: readonly string[];
  /** Runs for each envelope that reaches an awaited status, one at a time. */
  exec: string | undefined;
}

/** Handles the events of one watch, and decides its result. */
export class WatchSession {
  readonly #display: WatchDisplay;
  readonly #watched: WatchProgress;
  readonly #context: Context;
  readonly #unexpected: { id: string; status: string }[] = [];
  readonly #gone: Error[] = [];
  readonly #commands = { failed: 0, runs: 0 };
  #running: Promise<void> = Promise.resolve();

  constructor(display: WatchDisplay, watched: WatchProgress, context: Context) {
    this.#display = display;
    this.#watched = watched;
    this.#context = context;
  }

  async take(event: WatchEvent): Promise<void> {
    switch (event.type) {
      case 'change':
        return this.#change(event.change);
      case 'gone':
        this.#gone.push(event.error);
        // For a single envelope, the error report shows it.
        if (this.#watched.total > 1) await this.#display.gone(event.id, event.error);
        return;
      case 'outage':
        if (event.failures === 1) await this.#display.outage(`${sentenceOf(event.error)} Still watching.`);
        return;
      case 'recovered':
        return this.#display.outage(undefined);
    }
  }

  async #change(change: StatusChange): Promise<void> {
    const { envelopeId: id, to: status } = change;
    const { until, exec } = this.#watched;
    await this.#display.change(change);
    if (!isOver({ id, status }, until)) return;
    if (!until.includes(status)) this.#unexpected.push({ id, status });
    else if (exec !== undefined) this.#running = this.#running.then(() => this.#run(exec, change));
  }

  async #run(line: string, change: StatusChange): Promise<void> {
    if (this.#context.interrupt.signal.aborted) return;
    this.#commands.runs++;
    const why = await this.#failureOf(line, change);
    if (why === undefined) return;
    this.#commands.failed++;
    await this.#display.notify(`The command for ${change.envelopeId} ${why}.`);
  }

  async #failureOf(line: string, change: StatusChange): Promise<string | undefined> {
    const { terminal } = this.#context;
    const env = { ESIGN_ENVELOPE_ID: change.envelopeId, ESIGN_STATUS: change.to };
    const show = (text: string) => {
      for (const one of text.split('\n')) if (one.trim() !== '') void this.#display.notify(one);
    };
    // A live table uses the screen.
    const onOutput = terminal.outIsTty && !terminal.json ? show : undefined;
    try {
      const { code, signal } = await runCommand(line, `${jsonText(change)}\n`, env, onOutput);
      return code === 0 ? undefined : `exited with ${signal ?? code ?? 'an error'}`;
    } catch (error) {
      return `could not be run: ${messageOf(error)}`;
    }
  }

  /** Waits for the running commands. */
  finish(): Promise<void> {
    return this.#running;
  }

  throwOnFailure(): void {
    const { total, until } = this.#watched;
    if (this.#unexpected.length > 0) throw unexpectedStatus(this.#unexpected, until);
    const [gone] = this.#gone;
    if (gone !== undefined && this.#gone.length === total) throw gone;
    if (gone !== undefined)
      throw new PartialError(
        `${this.#gone.length} of ${counted(total, 'envelope')} not found. The errors are shown above.`,
      );
    const { failed, runs } = this.#commands;
    if (failed > 0)
      throw new PartialError(`The command failed ${failed} of ${runs} times. The errors are shown above.`);
  }
}

function unexpectedStatus(
  ended: readonly { id: string; status: string }[],
  until: readonly string[],
): UnexpectedStatusError {
  const list = ended.slice(0, MAX_LISTED).map(({ id, status }) => `${id} is ${status}`);
  const more = ended.length > MAX_LISTED ? `, and ${counted(ended.length - MAX_LISTED, 'other')}` : '';
  return new UnexpectedStatusError(
    `Ended in a status other than ${until.join(' or ')}: ${list.join(', ')}${more}.`,
    { hint: `To see why, run \`${command('envelopes', 'get', ended[0]?.id ?? '')}\`.` },
  );
}
