import { spawn } from 'node:child_process';
import type { Context } from '../../../cli/context.ts';
import { runCommand } from '../../../cli/input/run-command.ts';
import type { StatusChange } from '../../../envelopes/watch/watch.ts';
import { counted } from '../../../kernel/duration.ts';
import { messageOf } from '../../../kernel/errors.ts';
import { childEnvironment } from '../../../kernel/process/child-environment.ts';
import { desktopFor, ring } from '../../../output/desktop.ts';
import { jsonText } from '../../../output/json.ts';

type Say = (text: string) => Promise<void> | void;

/** Runs the user's command for each envelope that is reached, one after the other. */
export class ReachedCommand {
  readonly #line: string;
  readonly #say: Say;
  readonly #signal: AbortSignal;
  readonly #showsOutput: boolean;
  #work: Promise<void> = Promise.resolve();
  #runs = 0;
  #failed = 0;

  /** @param showsOutput what the command prints goes through `say`, since the screen is taken */
  constructor(line: string, say: Say, options: { signal: AbortSignal; showsOutput: boolean }) {
    this.#line = line;
    this.#say = say;
    this.#signal = options.signal;
    this.#showsOutput = options.showsOutput;
  }

  reached(change: StatusChange): void {
    this.#work = this.#work.then(() => this.#run(change));
  }

  /** Waits for all of them. How many failed, of how many. */
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
    await this.#say(`The command for ${envelopeId} ${why}.`);
  }

  /** Why it failed; undefined when it did not. */
  async #attempt(stdin: string, env: Record<string, string>): Promise<string | undefined> {
    const show = (text: string) => {
      for (const line of text.split('\n')) if (line.trim() !== '') void this.#say(line);
    };
    try {
      const { code, signal } = await runCommand(this.#line, stdin, env, this.#showsOutput ? show : undefined);
      return code === 0 ? undefined : `ended with ${signal ?? code ?? 'an error'}`;
    } catch (error) {
      return `could not be run: ${messageOf(error)}`;
    }
  }
}

/** Those that come within this time are told together. */
const GATHER_MS = 300;

/** Rings and tells the desktop of envelopes that have ended. */
export class Notifier {
  readonly #context: Context;
  #ended: StatusChange[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  ended(change: StatusChange): void {
    this.#ended.push(change);
    this.#timer ??= setTimeout(() => this.finish(), GATHER_MS);
  }

  /** Tells what is not told yet. */
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
    // A machine without a way to show it has at least rung.
    child.on('error', () => undefined).unref();
  }
}
