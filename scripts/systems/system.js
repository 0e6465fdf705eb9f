import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { spawn as spawnInTerminal } from '@lydell/node-pty';

/** Emulated commands can be slow. A command that takes longer than this is killed. */
const LIMIT_MS = 300_000;

/**
 * A system on which the program runs: this one, or one that is emulated here. Commands write their output to files, because a
 * Windows program can't write to a Linux pipe.
 */
class System {
  #command;
  #started = [];
  #count = 0;

  /**
   * @param facts.command the command that starts the program there
   * @param facts.folder the working directory of its commands
   * @param facts.named converts a path on this machine to a path on that system
   * @param facts.platform the platform that `--version` shows
   * @param facts.homes the folders that contain a user's files
   * @param facts.interrupted the exit code or signal of a command after Ctrl-C
   * @param facts.takesKeys whether its terminal passes on a typed Ctrl-C
   */
  constructor({ command, env, ...facts }) {
    this.#command = command;
    const { PATH, QEMU_LD_PREFIX } = process.env;
    this.env = { PATH, ...(QEMU_LD_PREFIX && { QEMU_LD_PREFIX }), ...env };
    Object.assign(this, facts);
  }

  path(...parts) {
    return join(this.folder, ...parts);
  }

  /** Runs a command to its end, and checks that it exits with `code`. */
  async run(words, code = 0) {
    const running = this.start(words);
    const limit = setTimeout(() => running.kill(), LIMIT_MS);
    const ended = await running.ended;
    clearTimeout(limit);
    const { stdout, stderr } = running.printed();
    if (ended === code) return stdout;
    throw new Error(`esign ${words.join(' ')} exited with ${ended}\n${stdout}\n${stderr}`);
  }

  async json(words) {
    return JSON.parse(await this.run([...words, '--json']));
  }

  /** Starts a long-running command. */
  start(words) {
    const files = ['out', 'err'].map((end) => this.path(`${++this.#count}.${end}`));
    const [stdout, stderr] = files.map((file) => openSync(file, 'w'));
    const [program, ...before] = this.#command;
    const options = { cwd: this.folder, env: this.env, stdio: ['ignore', stdout, stderr] };
    const child = spawn(program, [...before, ...words], options);
    const ended = new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', (code, signal) => resolve(signal ?? code));
    });
    for (const file of [stdout, stderr]) closeSync(file);
    const printed = () => {
      const [out, err] = files.map((file) => readFileSync(file, 'utf8'));
      return { stdout: out, stderr: err };
    };
    const running = {
      ended,
      printed,
      /** Returns its lines of stdout as soon as there are `count` of them. */
      lines: (count) =>
        until(
          () => whole(printed().stdout, count),
          () => JSON.stringify(printed()),
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
    const env = { TERM: 'xterm-256color', ...this.env };
    const child = spawnInTerminal(program, [...before, ...words], {
      cols: 200,
      rows: 50,
      cwd: this.folder,
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
      interrupt: () => (this.takesKeys ? child.write('\u0003') : child.kill('SIGINT')),
    };
  }

  close() {
    for (const running of this.#started) running.kill();
  }
}

/** This system. */
export function linux({ command, home, version, arch }) {
  return new System({
    command,
    env: { HOME: home, TMPDIR: join(home, 'temporary') },
    folder: home,
    named: (path) => path,
    platform: [`linux-${arch}`, `node-v${version}`],
    homes: () => [home],
    profiles: '.config/esign/profiles.json',
    // SIGINT, which shells report as 130.
    interrupted: 2,
    takesKeys: true,
  });
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
