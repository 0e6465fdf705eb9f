import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { spawn as spawnInTerminal } from '@lydell/node-pty';

/** An emulated command may take long; one that hangs is killed. */
const LIMIT_MS = 300_000;

/**
 * A system on which the program runs, this one or one that is emulated here. What commands print goes into files: a program
 * of Windows can't write to a pipe of Linux.
 */
export class System {
  #command;
  #started = [];
  #count = 0;

  /**
   * @param facts.command how the program is called there
   * @param facts.folder where its commands run
   * @param facts.named how the system calls a file of this one
   * @param facts.platform what `--version` names
   * @param facts.homes the folders in which a user's files are
   * @param facts.interrupted how a command ends after Ctrl-C
   * @param facts.takesKeys whether its terminal hands on a Ctrl-C that is typed
   */
  constructor({ command, env, ...facts }) {
    this.#command = command;
    this.env = { PATH: process.env.PATH, ESIGN_NO_UPDATE_NOTICE: '1', ...env };
    Object.assign(this, facts);
  }

  path(...parts) {
    return join(this.folder, ...parts);
  }

  /** Runs a command to its end; it must end with `code`. */
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
      /** Its lines of stdout as soon as there are so many. */
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
      /** Ctrl-C. */
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
    // SIGINT, which a shell tells as 130.
    interrupted: 2,
    takesKeys: true,
  });
}

function whole(text, count) {
  const lines = text.split(/\r?\n/).slice(0, -1);
  return lines.length >= count ? lines : undefined;
}

/** Asks again and again until there is an answer; a command that has ended gives none any more. */
async function until(answer, told, ended) {
  let over = false;
  ended.then(() => {
    over = true;
  });
  for (const deadline = Date.now() + LIMIT_MS; Date.now() < deadline && !over; await pause(100)) {
    const found = answer();
    if (found !== undefined) return found;
  }
  const last = answer();
  if (last !== undefined) return last;
  throw new Error(`it never came: ${told()}`);
}
