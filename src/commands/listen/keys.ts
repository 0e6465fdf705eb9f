import type { CommandTerminal } from '../../cli/terminal.ts';
import { messageOf } from '../../kernel/errors.ts';
import { openInBrowser } from '../../kernel/process/browser.ts';
import { isForeground } from '../../kernel/process/foreground.ts';
import { TypedKeys } from '../../output/typed-keys.ts';
import type { ListenControls } from '../../webhooks/listen-event.ts';

/** Keys that a listener on a terminal takes; none in a pipe, with --json, or when it is a job in the background. */
export class ListenKeys {
  readonly #terminal: CommandTerminal;
  readonly #forwards: boolean;
  readonly #keys: TypedKeys;
  #controls: ListenControls | undefined;
  #say: (text: string) => void = () => undefined;

  /** Whether there is somebody to press them. */
  readonly areWanted: boolean;

  constructor(terminal: CommandTerminal, { forwards }: { forwards: boolean }) {
    this.areWanted = terminal.canAsk && !terminal.json && !process.env.ESIGN_STOP_WITH_STDIN;
    this.#terminal = terminal;
    this.#forwards = forwards;
    this.#keys = new TypedKeys((key) => this.#press(key));
  }

  /** @param say tells the person, in order with what else is told */
  take(controls: ListenControls | undefined, say: (text: string) => void): void {
    this.#controls = controls;
    this.#say = say;
    if (!this.areWanted || !this.#grab()) return;
    process.on('SIGTSTP', this.#onSuspend).on('SIGCONT', this.#onContinue);
    const first = this.#forwards ? 'r tries held-back forwards at once, ' : '';
    this.#say(`Keys: ${first}o opens the inspector.`);
  }

  giveBack(): void {
    process.off('SIGTSTP', this.#onSuspend).off('SIGCONT', this.#onContinue);
    this.#keys.giveBack();
  }

  /** A job in the background would be stopped for it. */
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
    // So that a person can set what comes next apart.
    if (key === '\r') this.#terminal.err('\n');
  }

  #retry(): void {
    const tried = this.#controls?.tryForwardsNow() ?? 0;
    const what = tried === 1 ? '1 forward is' : `${tried} forwards are`;
    this.#say(tried === 0 ? 'No forward is held back.' : `${what} tried at once.`);
  }

  async #open(): Promise<void> {
    const page = await this.#controls?.openInspector();
    if (page === undefined) return;
    // The link itself would stand in the list of processes.
    const isOpened = await openInBrowser(page.ticketUrl());
    const how = isOpened ? 'The inspector is opened' : 'Inspect at';
    this.#say(`${how}${isOpened ? ':' : ''} ${page.url} (the link is a secret of this run).`);
  }
}
