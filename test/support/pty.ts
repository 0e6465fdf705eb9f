import { closeSync, constants, openSync, write } from 'node:fs';
import { ReadStream } from 'node:tty';
import { type IPty, spawn } from '@lydell/node-pty';
import { Terminal } from '@xterm/headless';
import { COMMAND, type Home } from './cli.ts';

/** A command in a real pseudo-terminal, with the screen as a person would see it. */
export interface Screen {
  type(text: string): void;
  /** Waits until the screen shows the text; fails with the screen otherwise. */
  shows(text: string): Promise<void>;
  text(): string;
  /** The lines as written: wrapped lines are joined again. */
  written(): string[];
  /** The visible rows. */
  visible(): string[];
  resize(columns: number, rows: number): void;
  /** Every byte that was written to it. */
  raw(): string;
  /** Hangs up, for a program that would not exit by itself. */
  hangUp(): void;
  /** How it ended. */
  ended: Promise<{ code: number; signal: number | undefined }>;
}

/** Runs a command of this home on a terminal. */
export function openCommand(
  home: Home,
  words: readonly string[],
  { env = {}, ...size }: { env?: Record<string, string>; columns?: number; rows?: number } = {},
): Screen {
  const [file, ...before] = COMMAND;
  return openScreen(file, [...before, ...words], { env: { ...home.env, ...env }, ...size });
}

export function openScreen(
  file: string,
  args: string[],
  options: { env: Record<string, string>; columns?: number; rows?: number },
): Screen {
  const { columns: cols = 80, rows = 24, env } = options;
  // Node passes this on to other children itself.
  const { NODE_V8_COVERAGE } = process.env;
  const coverage = NODE_V8_COVERAGE === undefined ? {} : { NODE_V8_COVERAGE };
  const terminal = new Terminal({ cols, rows, allowProposedApi: true });
  const child = spawn(file, args, {
    cols,
    rows,
    env: { TERM: 'xterm-256color', ...coverage, ...env },
  });
  let raw = '';
  readToEnd(child, (data) => {
    raw += data;
    terminal.write(data);
  });
  const ended = new Promise<{ code: number; signal: number | undefined }>((resolve) => {
    child.onExit(({ exitCode, signal }) =>
      // Its latest output is on the screen by then.
      terminal.write('', () => resolve({ code: exitCode, signal: signal === 0 ? undefined : signal })),
    );
  });
  const text = () => {
    const { active } = terminal.buffer;
    const lines = Array.from(
      { length: active.length },
      (_, i) => active.getLine(i)?.translateToString(true) ?? '',
    );
    return lines.join('\n').trimEnd();
  };
  return {
    type: (keys) => child.write(keys),
    async shows(wanted) {
      const deadline = Date.now() + 90_000;
      while (!text().includes(wanted)) {
        if (Date.now() > deadline)
          throw new Error(`the screen never showed ${JSON.stringify(wanted)}:\n${text()}`);
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    },
    text,
    written() {
      const { active } = terminal.buffer;
      const lines: string[] = [];
      for (let i = 0; i < active.length; i++) {
        const line = active.getLine(i);
        const goesOn = active.getLine(i + 1)?.isWrapped ?? false;
        const part = line?.translateToString(!goesOn) ?? '';
        if (line?.isWrapped) lines.push((lines.pop() ?? '') + part);
        else lines.push(part);
      }
      while (lines.at(-1) === '') lines.pop();
      return lines;
    },
    visible: () => {
      const { active } = terminal.buffer;
      return Array.from(
        { length: terminal.rows },
        (_, i) => active.getLine(active.viewportY + i)?.translateToString(true) ?? '',
      );
    },
    resize(columns, lines) {
      terminal.resize(columns, lines);
      child.resize(columns, lines);
    },
    raw: () => raw,
    hangUp: () => child.kill('SIGKILL'),
    ended,
  };
}

/** Follows the output of a program that has ended. No program prints it. */
const END = '\u0000end of output\u0000';

/**
 * Reads everything that the program prints. When the last process closes a terminal, libuv drops what is left after the next read, and
 * node-pty drops what is left 200 ms later. So the test keeps the terminal open and marks the end of the output itself.
 */
function readToEnd(child: IPty, onData: (data: string) => void): void {
  const socket: unknown = Reflect.get(child, '_socket');
  const path: unknown = Reflect.get(child, '_pty');
  if (!(socket instanceof ReadStream && typeof path === 'string')) throw new Error('node-pty has changed');
  const open = openSync(path, constants.O_RDWR | constants.O_NOCTTY);
  socket.once('close', () => closeSync(open));
  const close = socket.destroy.bind(socket);
  let tail: string | undefined;
  child.onData((data) => {
    if (tail === undefined) return onData(data);
    tail += data;
    if (!tail.endsWith(END)) return;
    onData(tail.slice(0, -END.length));
    close();
  });
  socket.destroy = (error) => {
    if (error || socket.destroyed) return close(error);
    tail = '';
    write(open, END, () => {});
    return socket;
  };
}
