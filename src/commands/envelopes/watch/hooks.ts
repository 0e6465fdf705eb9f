import { spawn } from 'node:child_process';
import type { Context } from '../../../cli/context.ts';
import { runCommand } from '../../../cli/input/run-command.ts';
import type { StatusChange } from '../../../envelopes/watch/watch.ts';
import { counted } from '../../../kernel/duration.ts';
import { messageOf } from '../../../kernel/errors.ts';
import { childEnvironment } from '../../../kernel/process/child-environment.ts';
import { desktopFor, ring } from '../../../output/desktop.ts';
import { jsonText } from '../../../output/json.ts';

type Notify = (text: string) => Promise<void> | void;

/** Runs the user's command for each envelope that reaches an awaited status, one at a time. */
export class ExecHook {
  readonly #line: string;
  readonly #notify: Notify;
  readonly #signal: AbortSignal;
  readonly #showsOutput: boolean;
  #work: Promise<void> = Promise.resolve();
  #runs = 0;
  #failed = 0;

  /** @param showsOutput pass the command's output to `notify`, because the live table uses the screen */
  constructor(line: string, notify: Notify, options: { signal: AbortSignal; showsOutput: boolean }) {
    this.#line = line;
    this.#notify = notify;
    this.#signal = options.signal;
    this.#showsOutput = options.showsOutput;
  }

  reached(change: StatusChange): void {
    this.#work = this.#work.then(() => this.#run(change));
  }

  /** Waits for all commands. Returns the number of runs and failures. */
  async finish(): Promise<{ failed: number; runs: number }> {
    await this.#work;
    return { failed: this.#failed, runs: this.#runs };
  }

  async #run(change: StatusChange): Promise<void> {
    if (this.#signal.aborted) return;
    this.#runs++;
    const { envelopeId, from, to, envelope } = change;
    const env = {
      ESIGN_ENVELOPE_ID: envelopeId,
      ESIGN_TEMPLATE_ID: envelope.templateId ?? '',
      ESIGN_STATUS: to,
      ESIGN_FROM: from ?? '',
    };
    const why = await this.#attempt(`${jsonText(change)}\n`, env);
    if (why === undefined) return;
    this.#failed++;
    await this.#notify(`The command for ${envelopeId} ${why}.`);
  }

  /** Returns why it failed; undefined if it succeeded. */
  async #attempt(stdin: string, env: Record<string, string>): Promise<string | undefined> {
    const show = (text: string) => {
      for (const line of text.split('\n')) if (line.trim() !== '') void this.#notify(line);
    };
    try {
      const { code, signal } = await runCommand(this.#line, stdin, env, this.#showsOutput ? show : undefined);
      return code === 0 ? undefined : `exited with ${signal ?? code ?? 'an error'}`;
    } catch (error) {
      return `could not be run: ${messageOf(error)}`;
    }
  }
}

/** Envelopes that end within this time share a notification, in ms. */
const BATCH_MS = 300;

/** Rings the bell and shows a desktop notification for ended envelopes. */
export class Notifier {
  readonly #context: Context;
  #ended: StatusChange[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  ended(change: StatusChange): void {
    this.#ended.push(change);
    this.#timer ??= setTimeout(() => this.finish(), BATCH_MS);
  }

  /** Shows the pending notification. */
  finish(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [first, ...more] = this.#ended;
    this.#ended = [];
    if (first === undefined) return;
    const text =
      more.length === 0
        ? `${first.envelopeId} is ${first.to}`
        : `${counted(more.length + 1, 'envelope')} have ended: ${first.envelopeId} is ${first.to}, …`;
    const desktop = desktopFor(text, process.env, process.platform);
    ring(this.#context.terminal, desktop.kind === 'escape' ? desktop.text : '');
    if (desktop.kind !== 'command') return;
    const child = spawn(desktop.file, desktop.args, {
      env: childEnvironment(),
      stdio: 'ignore',
      detached: true,
    });
    // Without desktop notifications, the bell is enough.
    child.on('error', () => undefined).unref();
  }
}
