import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { svgOf, textOf } from './svg.js';

const root = join(import.meta.dirname, '../..');
const BIN = join(root, 'bin/run.js');
/** The folder of the pictures. */
export const FOLDER = join(root, 'docs/pictures');
const TIMEOUT_MS = 60_000;

/** Calls `work` with a shell that has a new home folder and a sandbox. */
export async function withShell(work) {
  const shell = new Shell(await mkdtemp(join(tmpdir(), 'esign-pictures-')));
  const sandbox = shell.start(words`sandbox start --data sandbox --port 0 --json`);
  try {
    const [ready] = await once(sandbox.stdout, 'data');
    await work(shell, JSON.parse(ready).baseUrl);
  } finally {
    sandbox.kill();
    await once(sandbox, 'close');
    await rm(shell.home, { recursive: true, force: true });
  }
}

/** Runs the program, and draws what it shows in a terminal. */
class Shell {
  constructor(home) {
    this.home = home;
    const env = { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', TERM: 'xterm-256color' };
    this.options = { cwd: home, env };
  }

  /** Starts a command. */
  start(line) {
    return execFile(process.execPath, [BIN, ...line], this.options);
  }

  /** Runs a command to its end, and returns its output: shell.esign`sandbox sign ${id}`. */
  async esign(...line) {
    const args = [BIN, ...words(...line)];
    const { stdout } = await promisify(execFile)(process.execPath, args, this.options);
    return stdout.trim();
  }

  /** Opens a command in a new terminal, below a prompt with the command. */
  open(line, rows = 30) {
    const terminal = new xterm.Terminal({ cols: 100, rows, allowProposedApi: true });
    terminal.write(`\u001b[2m$\u001b[0m esign ${line.join(' ')}\r\n`);
    return { terminal, ...this.run(terminal, line, rows - 1) };
  }

  /** Runs a command in a terminal. */
  run(terminal, line, rows) {
    const child = spawn(process.execPath, [BIN, ...line], { cols: terminal.cols, rows, ...this.options });
    // Local paths don't belong in a picture.
    child.onData((data) => terminal.write(data.replaceAll(this.home, '~')));
    const ended = new Promise((resolve) => child.onExit(resolve));
    return { child, ended };
  }

  /** Runs a command to its end, and saves its last screen. */
  async take(name, title, line, rows) {
    const { terminal, ended } = this.open(line, rows);
    await ended;
    await keep(name, title, terminal);
  }
}

/** Waits until the screen shows a text. */
export async function shows(terminal, pattern) {
  for (const deadline = Date.now() + TIMEOUT_MS; !pattern.test(textOf(terminal)); await setTimeout(5))
    if (Date.now() > deadline) throw new Error(`The screen never showed ${pattern}:\n${textOf(terminal)}`);
}

/** Saves a screen. */
export async function keep(name, title, terminal) {
  await flushed(terminal);
  await writeFile(join(FOLDER, `${name}.svg`), svgOf(terminal, title));
}

/** Returns the words of a command line: words`sandbox sign ${id}`. A value is one word, and an array one for each item. */
export function words(texts, ...values) {
  return texts.flatMap((text, at) => [...text.split(/\s+/).filter(Boolean), ...[values[at] ?? []].flat()]);
}

/** Waits until the terminal has drawn everything written to it. */
export function flushed(terminal) {
  return new Promise((resolve) => terminal.write('', resolve));
}
