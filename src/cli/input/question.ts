import type { ReadStream } from 'node:tty';

export interface AskedChoice<T> {
  value: T;
  /** A single line. */
  name: string;
  /** The text shown after it was chosen (default: the name). */
  short?: string;
  description?: string;
}

export interface TextQuestion {
  /** The answer if nothing is typed. */
  standard?: string | undefined;
  /** Returns what is wrong with an answer; undefined if it is accepted. */
  problemOf?: (answer: string) => string | undefined;
}

export interface PromptContext {
  input: ReadStream;
  output: NodeJS.WriteStream;
  signal: AbortSignal;
}
