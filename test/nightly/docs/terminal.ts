import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openScreen, type Screen } from '../../support/pty.ts';

/** The width of a page. */
const COLUMNS = 120;
const ROWS = 60;
/** Lines that commands print only on slow machines. */
const SLOW = /aiting for a response from/;
/** Printed on a separate line after each part, with its number and exit code. */
const END = '␞';

/*
 * Reads the names of files, each a part of a page, and runs them in this shell, so that variables are kept for the next
 * part. A failing line doesn't end the shell; its exit code is kept.
 */
const SHELL = `stty -echo; set -o pipefail; __part=0; echo '${END} 0 0'
while IFS= read -r __file; do
  __failed=0; trap '__failed=$?' ERR
  . "$__file"
  trap - ERR; __part=$((__part + 1)); printf '\\n${END} %s %s\\n' "$__part" "$__failed"
done`;

const PAUSE_MS = 25;

export function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}

/** A shell in a terminal, as a reader has it open. */
export class Terminal {
  readonly #screen: Screen;
  readonly #folder: string;
  #parts = 0;

  constructor(folder: string, env: Record<string, string>) {
    this.#folder = folder;
    this.#screen = openScreen('bash', ['--norc', '-c', `cd '${join(folder, 'work')}'; ${SHELL}`], {
      env,
      columns: COLUMNS,
      rows: ROWS,
    });
  }

  /** Starts the reader's next command. */
  async start(text: string): Promise<void> {
    const file = join(this.#folder, `part-${crypto.randomUUID()}`);
    await writeFile(file, `${text}\n`);
    // Input typed before the shell reads would be echoed.
    while (this.code === undefined) await pause();
    this.#parts++;
    this.#screen.type(`${file}\r`);
  }

  /** Answers a prompt of the running command. */
  type(text: string): void {
    this.#screen.type(`${text}\r`);
  }

  /** The exit code of the latest command; undefined while it runs. */
  get code(): number | undefined {
    const end = new RegExp(`^${END} ${this.#parts} (\\d+)$`);
    const found = this.#screen.written().flatMap((line) => end.exec(line)?.[1] ?? []);
    return found[0] === undefined ? undefined : Number(found[0]);
  }

  /** The output so far. */
  get lines(): string[] {
    const lines = this.#screen.written().map((line) => line.replaceAll(this.#folder, '~'));
    const ends = lines.flatMap((line, at) => (line.startsWith(`${END} `) ? [at] : []));
    const [from = -1, to = lines.length] = [ends[this.#parts - 1], ends[this.#parts]];
    return lines.slice(from + 1, to).filter((line) => !SLOW.test(line));
  }

  async close(): Promise<void> {
    this.#screen.hangUp();
    await this.#screen.ended;
  }
}
