import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { svgOf } from './svg.js';

const COLUMNS = 100;
const ROWS = 30;
const TIMEOUT_MS = 60_000;

/** Runs the program in terminals with a new home folder, and draws what they show. */
export class Shell {
  static async open(bin, folder) {
    await mkdir(folder, { recursive: true });
    return new Shell(bin, folder, await mkdtemp(join(tmpdir(), 'esign-pictures-')));
  }

  constructor(bin, folder, home) {
    this.bin = bin;
    this.folder = folder;
    this.home = home;
    this.env = { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', TERM: 'xterm-256color' };
  }

  /** Starts a sandbox that the commands use. */
  async startSandbox() {
    const args = [this.bin, ...words`sandbox start --ephemeral --port 0 --json`];
    const child = execFile(process.execPath, args, { env: this.env });
    const [ready] = await once(child.stdout, 'data');
    const { baseUrl } = JSON.parse(ready);
    const stop = async () => {
      child.kill();
      await once(child, 'close');
    };
    return { baseUrl, stop };
  }

  /** Runs a command to its end, and returns its output: shell.esign`sandbox sign ${id}`. */
  async esign(...line) {
    const { env, home } = this;
    const args = [this.bin, ...words(...line)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env, cwd: home });
    return stdout.trim();
  }

  /** Opens a command in a new terminal, below a prompt with the command. */
  open(line, rows = ROWS) {
    const terminal = new xterm.Terminal({ cols: COLUMNS, rows, allowProposedApi: true });
    terminal.write(`\u001b[2m$\u001b[0m esign ${line.join(' ')}\r\n`);
    return { terminal, ...this.run(terminal, line, rows - 1) };
  }

  /** Runs a command in a terminal. */
  run(terminal, line, rows) {
    const { env, home } = this;
    const child = spawn(process.execPath, [this.bin, ...line], {
      cols: terminal.cols,
      rows,
      env,
      cwd: home,
    });
    // Local paths don't belong in a picture.
    child.onData((data) => terminal.write(data.replaceAll(home, '~')));
    const ended = new Promise((resolve) => child.onExit(resolve));
    return { child, ended };
  }

  /** Waits until the screen shows a text. */
  async shows(terminal, pattern) {
    for (const deadline = Date.now() + TIMEOUT_MS; !pattern.test(textOf(terminal)); ) {
      if (Date.now() > deadline) throw new Error(`The screen never showed ${pattern}:\n${textOf(terminal)}`);
      await setTimeout(5);
    }
  }

  async keep(name, title, terminal) {
    await flushed(terminal);
    await writeFile(join(this.folder, `${name}.svg`), svgOf(terminal, title));
  }

  /** Runs a command to its end, and saves its last screen. */
  async take(name, title, line, rows) {
    const { terminal, ended } = this.open(line, rows);
    await ended;
    await this.keep(name, title, terminal);
  }
}

/** Returns the words of a command line: words`sandbox sign ${id}`. A value is one word, and an array one for each item. */
export function words(texts, ...values) {
  return texts.flatMap((text, at) => [...text.split(/\s+/).filter(Boolean), ...[values[at] ?? []].flat()]);
}

/** Waits until the terminal has drawn everything written to it. */
export function flushed(terminal) {
  return new Promise((resolve) => terminal.write('', resolve));
}

function textOf(terminal) {
  const { active } = terminal.buffer;
  return Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true)).join(
    '\n',
  );
}
