import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { spawn as spawnInTerminal } from '@lydell/node-pty';

/** Emulated commands can be slow. A command that takes longer than this is killed. */
const LIMIT_MS = 300_000;

/** A Linux system on which the program runs: this one, or one that is emulated here. */
export class System {
  #command;
  #env;
  #started = [];

  /**
   * @param facts.command the command that starts the program there
   * @param facts.home the home folder of the user, in which the commands run
   * @param facts.platform the platform that `--version` shows
   */
  constructor({ command, home, platform }) {
    const { PATH, QEMU_LD_PREFIX } = process.env;
    this.#command = command;
    this.#env = {
      PATH,
      ...(QEMU_LD_PREFIX && { QEMU_LD_PREFIX }),
      HOME: home,
      TMPDIR: join(home, 'temporary'),
    };
    this.home = home;
    this.platform = platform;
  }

  path(...parts) {
    return join(this.home, ...parts);
  }

  /** Runs a command to its end, and checks that it exits with `code`. */
  async run(words, code = 0) {
    const running = this.start(words);
    const limit = setTimeout(() => running.kill(), LIMIT_MS);
    const ended = await running.ended;
    clearTimeout(limit);
    const { stdout, stderr } = running.printed;
    if (ended === code) return stdout;
    throw new Error(`esign ${words.join(' ')} exited with ${ended}\n${stdout}\n${stderr}`);
  }

  async json(words) {
    return JSON.parse(await this.run([...words, '--json']));
  }

  /** Starts a long-running command. */
  start(words) {
    const [program, ...before] = this.#command;
    const options = { cwd: this.home, env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] };
    const child = spawn(program, [...before, ...words], options);
    const printed = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'])
      child[name].setEncoding('utf8').on('data', (text) => {
        printed[name] += text;
      });
    const ended = new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => resolve(signal ?? code));
    });
    const running = {
      ended,
      printed,
      /** Returns its lines of stdout as soon as there are `count` of them. */
      lines: (count) =>
        until(
          () => whole(printed.stdout, count),
          () => JSON.stringify(printed),
          ended,
        ),
      kill: () => child.kill('SIGKILL'),
    };
    this.#started.push(running);
    return running;
  }

  /** Starts a command in a terminal. */
  open(words) {
    const [program, ...before] = this.#command;
    const env = { TERM: 'xterm-256color', ...this.#env };
    const child = spawnInTerminal(program, [...before, ...words], {
      cols: 200,
      rows: 50,
      cwd: this.home,
      env,
    });
    let text = '';
    child.onData((data) => {
      text += data;
    });
    const ended = new Promise((resolve) => {
      setTimeout(() => child.kill('SIGKILL'), LIMIT_MS).unref();
      child.onExit(({ exitCode, signal }) => resolve(signal || exitCode));
    });
    const running = { ended, kill: () => child.kill('SIGKILL') };
    this.#started.push(running);
    return {
      ended,
      shows: (pattern) =>
        until(
          () => pattern.exec(text) ?? undefined,
          () => text,
          ended,
        ),
      /** Sends Ctrl-C. */
      interrupt: () => child.write('\u0003'),
    };
  }

  close() {
    for (const running of this.#started) running.kill();
  }
}

function whole(text, count) {
  const lines = text.split(/\r?\n/).slice(0, -1);
  return lines.length >= count ? lines : undefined;
}

/** Calls `find` until it returns a value. Gives up after the command has ended. */
async function until(find, printed, ended) {
  let over = false;
  ended.then(() => {
    over = true;
  });
  for (const deadline = Date.now() + LIMIT_MS; Date.now() < deadline && !over; await pause(100)) {
    const found = find();
    if (found !== undefined) return found;
  }
  const last = find();
  if (last !== undefined) return last;
  throw new Error(`the expected output never appeared: ${printed()}`);
}
