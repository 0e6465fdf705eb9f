import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { COMMAND, Home } from '../support/cli.ts';
import { openScreen, type Screen } from '../support/pty.ts';
import { type Bindings, compare, inThisRun } from './expectation.ts';
import { type Shown, type Snippet, shownOf } from './page.ts';

/** A snippet that would leave this machine gets nowhere. */
const NOWHERE = {
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: 'localhost,127.0.0.1',
  npm_config_offline: 'true',
};

interface Ended {
  code: number | null;
  printed: string;
}

/** As wide as a page is. */
const COLUMNS = 120;
const ROWS = 60;
const PATIENCE_MS = 20_000;
const SETTLING_MS = 1_000;
/** The address in the pages that stands for the service. */
const SERVICE = 'https://api.example.com/api/v1';

/** The machine of one page: its snippets are run there one after the other. */
export class Session {
  readonly #home = new Home({ LANG: 'C.UTF-8', NO_COLOR: '1', ...NOWHERE });
  readonly #bindings: Bindings = new Map();
  readonly #running: Screen[] = [];

  /** Starts a sandbox; its profile is there from the start unless the page starts one of its own. */
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
    const { baseUrl, apiKey } = await home.sandbox(ownSandbox ? ['--no-save-profile'] : []);
    Object.assign(home.env, { SANDBOX_URL: baseUrl, SANDBOX_KEY: apiKey });
  }

  /** Runs a snippet; what is wrong with it, or nothing. */
  async run(snippet: Snippet): Promise<string> {
    const { notes } = snippet;
    const setup = notes.get('setup');
    const problem = setup === undefined ? '' : await this.#prepare(setup);
    if (problem !== '') return problem;
    return snippet.language === 'console' ? this.#console(snippet) : this.#script(snippet);
  }

  async close(): Promise<void> {
    for (const screen of this.#running) screen.hangUp();
    await Promise.all(this.#running.map((screen) => screen.ended));
    await this.#home.close();
  }

  /** Runs what the page does not show; ids it assigns (`env_123=…`) are known from then on. */
  async #prepare(setup: string): Promise<string> {
    const done = await this.#bash(
      `set -a\n${this.#text(setup)}\nset +a; export -p > ../vars; env | grep -E '^(env|dlv)_' > ../names || true`,
    );
    if (done.code !== 0) return `the setup ended with ${done.code}: ${done.printed}`;
    for (const line of (await readFile(this.#home.path('names'), 'utf8')).trim().split('\n')) {
      const [name = '', value = ''] = line.split('=');
      if (name !== '') this.#bindings.set(name, value);
    }
    return '';
  }

  /** A script of which no output is shown has to end well. */
  async #script({ text: script, notes }: Snippet): Promise<string> {
    const vars = notes.has('setup') ? 'source ../vars;' : '';
    const { code, printed } = await this.#bash(`${vars}\n${this.#text(script)}`);
    const wanted = Number(notes.get('exit') ?? 0);
    return code === wanted ? '' : `ended with ${code}: ${printed}`;
  }

  /** On a terminal, where each command has to print what is shown. */
  async #console(snippet: Snippet): Promise<string> {
    const all = shownOf(snippet);
    for (const [index, shown] of all.entries()) {
      const notes = index === all.length - 1 ? snippet.notes : new Map<string, string>();
      const problem = await this.#shown(shown, notes, snippet.notes.has('setup'));
      if (problem !== '') return `$ ${shown.command}\n${problem}`;
    }
    return '';
  }

  async #shown(shown: Shown, notes: Snippet['notes'], vars: boolean): Promise<string> {
    const script = `cd '${this.#home.path('work')}'; ${vars ? 'source ../vars;' : ''} ${this.#text(shown.command)}`;
    const env = this.#home.env;
    const screen = openScreen('bash', ['--norc', '-c', script], { env, columns: COLUMNS, rows: ROWS });
    this.#running.push(screen);
    const [first] = shown.output;
    const meanwhile = notes.get('meanwhile');
    if (meanwhile !== undefined && first !== undefined) {
      const missing = await this.#until(screen, ['…', first, '…']);
      if (missing !== '') return missing;
      const done = await this.#bash(this.#text(meanwhile));
      if (done.code !== 0) return `meanwhile ended with ${done.code}: ${done.printed}`;
    }
    if (notes.has('keeps running')) return this.#until(screen, [...shown.output, '…']);
    const end = await Promise.race([screen.ended, tooLate()]);
    if (end === undefined) return `it did not end:\n${screen.text()}`;
    const wanted = Number(notes.get('exit') ?? 0);
    if (end.code !== wanted) return `ended with ${end.code}:\n${screen.text()}`;
    // The screen may still be reading what was written last.
    return this.#until(screen, shown.output, SETTLING_MS);
  }

  /** Waits until the screen shows the lines. */
  async #until(screen: Screen, lines: readonly string[], patience = PATIENCE_MS): Promise<string> {
    const deadline = Date.now() + patience;
    for (;;) {
      const tried = new Map(this.#bindings);
      const problem = compare(lines, this.#linesOf(screen), tried);
      if (problem === '') for (const [name, value] of tried) this.#bindings.set(name, value);
      if (problem === '') return '';
      if (Date.now() > deadline) return `${problem}\nall of it:\n${screen.text()}`;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  #text(command: string): string {
    return inThisRun(command, this.#bindings).replaceAll(SERVICE, this.#home.env.SANDBOX_URL ?? SERVICE);
  }

  /** A script without a terminal; one that does not end is stopped with all it started. */
  async #bash(script: string): Promise<Ended> {
    const options = { env: this.#home.env, cwd: this.#home.path('work'), detached: true } as const;
    const child = spawn('bash', ['--norc', '-c', `set -eo pipefail; ${script}`], options);
    const stop = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    }, PATIENCE_MS);
    child.stdin.end();
    const closed = once(child, 'close');
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    await closed;
    clearTimeout(stop);
    return { code: child.exitCode, printed: `${stderr}${stdout}` };
  }

  #linesOf(screen: Screen): string[] {
    return screen.written().map((line) => line.replaceAll(this.#home.folder, '~'));
  }
}

/** `esign` on the PATH; a port that is not given is any free one, so that pages run side by side. */
const SHIM = `#!/bin/sh
case " $* " in
  *" --port "*) ;;
  " sandbox start "*|" listen "*) set -- "$@" --port 0 ;;
esac
exec COMMAND "$@"
`;

function tooLate(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, PATIENCE_MS, undefined).unref());
}
