import type { ReadStream } from 'node:tty';
import { EsignError, sentenceOf } from '../../kernel/errors.ts';

export interface AskedChoice<T> {
  value: T;
  /** A single line. */
  name: string;
  /** The text shown after it was chosen (default: the name). */
  short?: string;
  description?: string;
}

export interface TextQuestion {
  /** Returns what is wrong with an answer; undefined if it is accepted. */
  problemOf?: (answer: string) => string | undefined;
}

/** Returns the message of the error with which a check refuses an answer; undefined if it accepts it. */
export function problemFoundBy(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof EsignError) return sentenceOf(error);
    throw error;
  }
}

export interface PromptContext {
  input: ReadStream;
  output: NodeJS.WriteStream;
  signal: AbortSignal;
}
