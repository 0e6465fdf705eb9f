import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { messageOf } from '../../kernel/errors.ts';
import { childEnvironment } from '../../kernel/process/child-environment.ts';
import { RawKeys } from '../../output/typed-keys.ts';
import type { ListenControls } from '../../webhooks/listen-event.ts';

/** Handles the keys of a listener on a terminal. Disabled in a pipe, with --json, and in a background job. */
export class ListenKeys {
  readonly #terminal: CommandTerminal;
  readonly #forwards: boolean;
  readonly #keys: RawKeys;
  /** What the keys do. Set when the listener is ready. */
  controls: ListenControls | undefined;
  #print: (text: string) => void = () => undefined;

  /** Whether there is a user who can press keys. */
  readonly isEnabled: boolean;

  constructor(terminal: CommandTerminal, { forwards }: { forwards: boolean }) {
    this.isEnabled = terminal.canAsk && !terminal.json && !process.env.ESIGN_STOP_WITH_STDIN;
    this.#terminal = terminal;
    this.#forwards = forwards;
    this.#keys = new RawKeys((key) => this.#press(key));
  }

  /** Starts to handle keys. @param print shows a line, in order with the other output */
  start(print: (text: string) => void): void {
    this.#print = print;
    if (!this.isEnabled || !isForeground()) return;
    this.#keys.start();
    process.on('SIGTSTP', this.#onSuspend).on('SIGCONT', this.#onContinue);
    const first = this.#forwards ? 'r retries pending forwards, ' : '';
    this.#print(`Keys: ${first}o opens the inspector.`);
  }

  stop(): void {
    process.off('SIGTSTP', this.#onSuspend).off('SIGCONT', this.#onContinue);
    this.#keys.stop();
  }

  readonly #onSuspend = () => {
    this.#keys.stop();
    process.kill(process.pid, 'SIGSTOP');
  };

  readonly #onContinue = () => {
    if (isForeground()) this.#keys.start();
  };

  #press(key: string): void {
    if (key === 'o') void this.#open().catch((error: unknown) => this.#print(messageOf(error)));
    if (key === 'r' && this.#forwards) this.#retry();
    // Adds an empty line to separate later output.
    if (key === '\r') this.#terminal.err('\n');
  }

  #retry(): void {
    const tried = this.controls?.tryForwardsNow() ?? 0;
    const what = tried === 1 ? '1 forward' : `${tried} forwards`;
    this.#print(tried === 0 ? 'No forwards are pending.' : `Retrying ${what}.`);
  }

  async #open(): Promise<void> {
    const page = await this.controls?.openInspector();
    if (page === undefined) return;
    // A ticket is used because the permanent link would appear in the process list.
    const isOpened = await openInBrowser(page.ticketUrl());
    const how = isOpened ? 'Opened the inspector:' : 'Inspector:';
    this.#print(`${how} ${page.url} (private link, valid until you stop listening)`);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the command that opens a URL in the user's browser, or undefined without a graphical session. */
export function browserCommand(
  url: string,
  env: Environment,
  platform: NodeJS.Platform,
): readonly [file: string, ...args: string[]] | undefined {
  if (env.BROWSER) return [env.BROWSER, url];
  if (platform === 'darwin') return ['open', url];
  // `start` uses the first quoted argument as the title, so an empty one is needed.
  if (platform === 'win32') return ['cmd', '/c', 'start', '""', url];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open', url] : undefined;
}

/** Opens the URL in the browser. Returns false if that fails. */
function openInBrowser(url: string): Promise<boolean> {
  const command = browserCommand(url, process.env, process.platform);
  if (command === undefined) return Promise.resolve(false);
  const [file, ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: 'ignore', detached: true, env: childEnvironment() });
    child.once('error', () => resolve(false));
    child.once('spawn', () => resolve(true));
    child.unref();
  });
}

/**
 * Returns false for a background job (`esign … &`), which may write to its terminal but is stopped when it reads from it. Returns
 * true if that can't be determined.
 */
function isForeground(): boolean {
  const [group, owner] = process.platform === 'linux' ? fromProc() : fromPs();
  return group === undefined || owner === undefined || group === owner;
}

/** The process group of this process, and the foreground process group of its terminal. */
type Groups = readonly [group: string | undefined, owner: string | undefined];

function fromProc(): Groups {
  try {
    // The fields after the name, which may contain spaces: state, parent, group, session, terminal, foreground group.
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return [fields[2], fields[5]];
  } catch {
    return [undefined, undefined];
  }
}

function fromPs(): Groups {
  if (process.platform === 'win32') return [undefined, undefined];
  const words = ['-o', 'pgid=,tpgid=', '-p', String(process.pid)];
  const { stdout } = spawnSync('ps', words, { env: childEnvironment(), encoding: 'utf8' });
  const [group, owner] = stdout.trim().split(/\s+/);
  return [group || undefined, owner];
}
