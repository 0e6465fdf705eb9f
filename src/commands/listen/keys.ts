import type { CommandTerminal } from '../../cli/terminal.ts';
import { messageOf } from '../../kernel/errors.ts';
import { openInBrowser } from '../../kernel/process/browser.ts';
import { isForeground } from '../../kernel/process/foreground.ts';
import { TypedKeys } from '../../output/typed-keys.ts';
import type { ListenControls } from '../../webhooks/listen-event.ts';

/** Handles the keys of a listener on a terminal. Disabled in a pipe, with --json, and in a background job. */
export class ListenKeys {
  readonly #terminal: CommandTerminal;
  readonly #forwards: boolean;
  readonly #keys: TypedKeys;
  #controls: ListenControls | undefined;
  #say: (text: string) => void = () => undefined;

  /** Whether there is a user who can press keys. */
  readonly areWanted: boolean;

  constructor(terminal: CommandTerminal, { forwards }: { forwards: boolean }) {
    this.areWanted = terminal.canAsk && !terminal.json && !process.env.ESIGN_STOP_WITH_STDIN;
    this.#terminal = terminal;
    this.#forwards = forwards;
    this.#keys = new TypedKeys((key) => this.#press(key));
  }

  /** Starts to handle keys. @param say shows a line, in order with the other output */
  take(controls: ListenControls | undefined, say: (text: string) => void): void {
    this.#controls = controls;
    this.#say = say;
    if (!this.areWanted || !this.#grab()) return;
    process.on('SIGTSTP', this.#onSuspend).on('SIGCONT', this.#onContinue);
    const first = this.#forwards ? 'r retries pending forwards, ' : '';
    this.#say(`Keys: ${first}o opens the inspector.`);
  }

  giveBack(): void {
    process.off('SIGTSTP', this.#onSuspend).off('SIGCONT', this.#onContinue);
    this.#keys.giveBack();
  }

  /** Starts to read keys, except in a background job, which would be stopped by reading from the terminal. */
  #grab(): boolean {
    const may = isForeground();
    if (may) this.#keys.take();
    return may;
  }

  readonly #onSuspend = () => {
    this.#keys.giveBack();
    process.kill(process.pid, 'SIGSTOP');
  };

  readonly #onContinue = () => {
    this.#grab();
  };

  #press(key: string): void {
    if (key === 'o') void this.#open().catch((error: unknown) => this.#say(messageOf(error)));
    if (key === 'r' && this.#forwards) this.#retry();
    // Adds an empty line to separate later output.
    if (key === '\r') this.#terminal.err('\n');
  }

  #retry(): void {
    const tried = this.#controls?.tryForwardsNow() ?? 0;
    const what = tried === 1 ? '1 forward' : `${tried} forwards`;
    this.#say(tried === 0 ? 'No forwards are pending.' : `Retrying ${what}.`);
  }

  async #open(): Promise<void> {
    const page = await this.#controls?.openInspector();
    if (page === undefined) return;
    // A ticket is used because the permanent link would appear in the process list.
    const isOpened = await openInBrowser(page.ticketUrl());
    const how = isOpened ? 'Opened the inspector:' : 'Inspector:';
    this.#say(`${how} ${page.url} (private link, valid until you stop listening)`);
  }
}
