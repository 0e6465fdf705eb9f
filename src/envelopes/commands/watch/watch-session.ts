import type { Client } from '../../../api/client.ts';
import type { Envelope } from '../../../api/schemas.ts';
import { runCommand } from '../../../cli/input/run-command.ts';
import { counted } from '../../../kernel/duration.ts';
import { messageOf, PartialError, sentenceOf, UnexpectedStatusError } from '../../../kernel/errors.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import { jsonText } from '../../../output/json.ts';
import type { Context } from '../../../session/context.ts';
import { isOver, type StatusChange, type WatchEvent } from '../../watch/watch-envelopes.ts';
import { followSuccessor, successorOf } from '../replace/successor.ts';
import type { WatchDisplay } from './watch-display.ts';

const MAX_LISTED = 10;

/** Handles the events of one watch, and decides its result. */
export class WatchSession {
  readonly #display: WatchDisplay;
  readonly #wanted: { until: readonly string[]; single: boolean; client: Client };
  readonly #context: Context;
  readonly #command: ReturnType<typeof execHook> | undefined;
  readonly #last = new Map<string, string>();
  readonly #unexpected: { id: string; status: string; envelope: Envelope }[] = [];
  readonly #gone: Error[] = [];
  #count = 0;
  #commands = { failed: 0, runs: 0 };

  constructor(
    display: WatchDisplay,
    wanted: { until: readonly string[]; single: boolean; client: Client },
    { exec }: { exec?: string | undefined },
    context: Context,
  ) {
    this.#display = display;
    this.#wanted = wanted;
    this.#context = context;
    const { terminal, interrupt } = context;
    const options = { signal: interrupt.signal, showsOutput: terminal.outIsTty && !terminal.json };
    if (exec !== undefined) this.#command = execHook(exec, (text) => display.notify(text), options);
  }

  async take(event: WatchEvent): Promise<void> {
    switch (event.type) {
      case 'change':
        return this.#change(event.change);
      case 'gone':
        this.#gone.push(event.error);
        if (!this.#last.has(event.id)) this.#count++;
        // For a single envelope, the error report shows it.
        if (this.#wanted.single) return;
        return this.#display.gone(event.id, this.#last.get(event.id) ?? null, event.error);
      case 'outage':
        if (event.failures === 1) await this.#display.outage(`${sentenceOf(event.error)} Still watching.`);
        return;
      case 'recovered':
        return this.#display.outage(undefined);
      case 'wakeupsFailed':
        return this.#display.notify(
          `Webhook events on this machine can't be read: ${messageOf(event.error)}. Polling continues.`,
        );
    }
  }

  async #change(change: StatusChange): Promise<void> {
    const { envelopeId: id, from, to } = change;
    if (from === null) this.#count++;
    await this.#display.change(change);
    const over = isOver({ id, status: to }, this.#wanted.until);
    if (!over) return void this.#last.set(id, to);
    this.#last.delete(id);
    if (this.#wanted.until.includes(to)) this.#command?.reached(change);
    else this.#unexpected.push({ id, status: to, envelope: change.envelope });
  }

  /** Returns hints about the replacements of envelopes that ended in another status; undefined if absent. */
  async #successors(): Promise<string | undefined> {
    const options = { client: this.#wanted.client, looks: this.#wanted.single };
    const lines: string[] = [];
    for (const { id, envelope } of this.#unexpected.slice(0, MAX_LISTED)) {
      const made = await successorOf(envelope, options, this.#context);
      if (made) lines.push(followSuccessor(id, made));
    }
    return lines.length > 0 ? lines.join('\n') : undefined;
  }

  /** Waits for the running commands. */
  async finish(): Promise<void> {
    if (this.#command) this.#commands = await this.#command.finish();
  }

  async throwOnFailure(): Promise<void> {
    const count = this.#count;
    const { failed, runs } = this.#commands;
    const [first] = this.#unexpected;
    if (first !== undefined)
      throw unexpectedStatus(
        this.#unexpected,
        this.#wanted.until,
        (await this.#successors()) ?? reasonHint(first.id),
      );
    const [gone] = this.#gone;
    if (gone !== undefined && this.#gone.length === count) throw gone;
    if (gone !== undefined)
      throw new PartialError(
        `${this.#gone.length} of ${counted(count, 'envelope')} not found. The errors are shown above.`,
      );
    if (failed > 0)
      throw new PartialError(`The command failed ${failed} of ${runs} times. The errors are shown above.`);
  }
}

function reasonHint(id: string): string {
  return `To see why, run \`${command('envelopes', 'get', id)}\`.`;
}

function unexpectedStatus(
  ended: readonly { id: string; status: string }[],
  until: readonly string[],
  hint: string,
): UnexpectedStatusError {
  const list = ended.slice(0, MAX_LISTED).map(({ id, status }) => `${id} is ${status}`);
  const more = ended.length > MAX_LISTED ? `, and ${counted(ended.length - MAX_LISTED, 'other')}` : '';
  return new UnexpectedStatusError(
    `Ended in a status other than ${until.join(' or ')}: ${list.join(', ')}${more}.`,
    { hint },
  );
}

type Notify = (text: string) => Promise<void> | void;

/**
 * Returns what runs the user's command for each envelope that reaches an awaited status, one at a time.
 * @param showsOutput pass the command's output to `notify`, because the live table uses the screen
 */
function execHook(
  line: string,
  notify: Notify,
  { signal, showsOutput }: { signal: AbortSignal; showsOutput: boolean },
) {
  const counts = { failed: 0, runs: 0 };
  let work: Promise<void> = Promise.resolve();
  const show = (text: string) => {
    for (const one of text.split('\n')) if (one.trim() !== '') void notify(one);
  };

  async function run(change: StatusChange): Promise<void> {
    if (signal.aborted) return;
    counts.runs++;
    const { envelopeId, to } = change;
    const env = { ESIGN_ENVELOPE_ID: envelopeId, ESIGN_STATUS: to };
    const why = await attempt(`${jsonText(change)}\n`, env);
    if (why === undefined) return;
    counts.failed++;
    await notify(`The command for ${envelopeId} ${why}.`);
  }

  /** Returns why it failed; undefined if it succeeded. */
  async function attempt(stdin: string, env: Record<string, string>): Promise<string | undefined> {
    try {
      const { code, signal: endedBy } = await runCommand(line, stdin, env, showsOutput ? show : undefined);
      return code === 0 ? undefined : `exited with ${endedBy ?? code ?? 'an error'}`;
    } catch (error) {
      return `could not be run: ${messageOf(error)}`;
    }
  }

  return {
    reached: (change: StatusChange) => {
      work = work.then(() => run(change));
    },
    /** Waits for all commands. Returns the number of runs and failures. */
    finish: async () => {
      await work;
      return counts;
    },
  };
}
