import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { COMMAND, Home } from '../../support/cli.ts';
import { type Bindings, compare, inThisRun } from './expectation.ts';
import { type Snippet, shownOf } from './page.ts';
import { pause, Terminal } from './terminal.ts';

/** Network access outside this machine fails. */
const NOWHERE = {
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: 'localhost,127.0.0.1',
  npm_config_offline: 'true',
};
const PATIENCE_MS = 60_000;
/** A prompt that the reader answers with the key or with yes. */
const PROMPT = /^\? (?:API key:|.*\(y\/N\)$)/;
/** The address that represents the service in the pages. */
const SERVICE = 'https://api.example.com/api/v1';

/**
 * The environment of one page. Its snippets run there one after the other in one shell. While a command keeps running, the
 * next snippets run in another terminal, as the pages say.
 */
export class Session {
  readonly #home = new Home({ LANG: 'C.UTF-8', NO_COLOR: '1', ...NOWHERE });
  readonly #bindings: Bindings = new Map();
  readonly #terminals: Terminal[] = [];
  #terminal: Terminal | undefined;
  /** The command that keeps running, and its output so far. */
  #kept: { terminal: Terminal; shown: readonly string[] } | undefined;

  /** Starts a sandbox. Its profile exists from the start unless the page starts its own sandbox. */
  async open(ownSandbox: boolean): Promise<void> {
    const home = this.#home;
    delete home.env.ESIGN_CONFIG_DIR;
    delete home.env.ESIGN_STATE_DIR;
    await mkdir(home.path('bin'));
    await mkdir(home.path('work'));
    const esign = home.path('bin', 'esign');
    await writeFile(esign, SHIM.replace('COMMAND', COMMAND.map((word) => `'${word}'`).join(' ')));
    await chmod(esign, 0o755);
    home.env.PATH = `${home.path('bin')}:${home.env.PATH ?? ''}`;
    const { baseUrl, apiKey } = await home.sandbox([], { hasProfile: !ownSandbox });
    this.#service = { baseUrl, apiKey };
    // Values that a reader gets from the service and from the owner of the bucket.
    await writeFile(home.path('work', 'esign.key'), `${apiKey}\n`, { mode: 0o600 });
    await writeFile(home.path('work', 'bucket.secret'), 'secret-of-the-bucket\n', { mode: 0o600 });
  }
  #service = { baseUrl: SERVICE, apiKey: '' };

  /** Runs a snippet and returns the problem, or undefined. */
  run(snippet: Snippet): Promise<string> {
    return snippet.language === 'console' ? this.#console(snippet) : this.#script(snippet);
  }

  async close(): Promise<void> {
    await Promise.all(this.#terminals.map((one) => one.close()));
    await this.#home.close();
  }

  /** A script without shown output must exit with 0. */
  async #script({ text, notes }: Snippet): Promise<string> {
    const terminal = this.#current();
    await terminal.start(this.#inThisRun(text));
    return this.#end(terminal, Number(notes.get('exit') ?? 0));
  }

  /** Each command must print what the page shows. Output shown without a command comes from the one that keeps running. */
  async #console(snippet: Snippet): Promise<string> {
    const all = shownOf(snippet);
    for (const [index, { command, output }] of all.entries()) {
      const isLast = index === all.length - 1;
      const problem =
        command === ''
          ? await this.#further(output)
          : await this.#shown(command, output, isLast ? snippet.notes : new Map());
      if (problem !== '') return `$ ${command}\n${problem}`;
    }
    return '';
  }

  async #shown(command: string, output: readonly string[], notes: Snippet['notes']): Promise<string> {
    const terminal = this.#current();
    await terminal.start(this.#inThisRun(command));
    if (notes.has('keeps running')) {
      this.#kept = { terminal, shown: output };
      this.#terminal = undefined;
      return this.#until(terminal, [...output, '…']);
    }
    const problem = await this.#end(terminal, Number(notes.get('exit') ?? 0));
    return problem === '' ? compare(output, terminal.lines, this.#bindings) : problem;
  }

  #further(output: readonly string[]): Promise<string> {
    if (this.#kept === undefined) return Promise.resolve('nothing keeps running');
    const { terminal, shown } = this.#kept;
    this.#kept = { terminal, shown: [...shown, '…', ...output] };
    return this.#until(terminal, [...this.#kept.shown, '…']);
  }

  /** Waits for the command in the terminal to end. */
  async #end(terminal: Terminal, wanted: number): Promise<string> {
    const deadline = Date.now() + PATIENCE_MS;
    let answered = 0;
    while (terminal.code === undefined) {
      if (Date.now() > deadline) return `it did not end:\n${terminal.lines.join('\n')}`;
      const prompts = terminal.lines.filter((line) => PROMPT.test(line));
      if (prompts.length > answered) {
        terminal.type(prompts[answered++]?.startsWith('? API key:') ? this.#service.apiKey : 'y');
      }
      await pause();
    }
    return terminal.code === wanted ? '' : `ended with ${terminal.code}:\n${terminal.lines.join('\n')}`;
  }

  /** Waits until the terminal shows the lines. */
  async #until(terminal: Terminal, lines: readonly string[]): Promise<string> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const tried = new Map(this.#bindings);
      const problem = compare(lines, terminal.lines, tried);
      if (problem === '') for (const [name, value] of tried) this.#bindings.set(name, value);
      if (problem === '') return '';
      if (Date.now() > deadline) return `${problem}\nall of it:\n${terminal.lines.join('\n')}`;
      await pause();
    }
  }

  #current(): Terminal {
    if (this.#terminal === undefined) {
      this.#terminal = new Terminal(this.#home.folder, this.#home.env);
      this.#terminals.push(this.#terminal);
    }
    return this.#terminal;
  }

  #inThisRun(command: string): string {
    return inThisRun(command, this.#bindings).replaceAll(SERVICE, this.#service.baseUrl);
  }
}

/** Puts `esign` on the PATH. Ports that are not given are any free ones, so that pages can run in parallel. */
const SHIM = `#!/bin/sh
case " $* " in
  *" --port "*) ;;
  " sandbox start "*|" listen "*) set -- "$@" --port 0 ;;
esac
exec COMMAND "$@"
`;
