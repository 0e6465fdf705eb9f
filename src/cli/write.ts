import { EsignError, UnknownOutcomeError } from '../kernel/errors.ts';
import type { Context } from './context.ts';
import { errorText } from './report.ts';

/** What is said of a write that must not end without a word. */
export interface OpenWrite {
  /** What is not known should the process have to end at once: asked for then. */
  unknown: () => string;
  /** What to run then, safely. */
  hint: () => string;
}

/** A stop that is through by then needs no word. */
const SAID_AFTER_MS = 300;

/**
 * Does a write. A stop tears nothing off: a reply that is under way is waited for a moment, then it is looked what became
 * of the write (envelopes/settle.ts). Where the process has to end before that, it says what is not known and how to go on.
 */
export async function settling<T>(write: OpenWrite, context: Context, work: () => Promise<T>): Promise<T> {
  const { terminal, interrupt } = context;
  const { json, redactor, styleErr: style } = terminal;
  const { signal } = interrupt;
  const forget = interrupt.lastWords((exitCode) => {
    const error = new UnknownOutcomeError(write.unknown(), { hint: write.hint() });
    return errorText(error, { json, redactor, style, exitCode });
  });
  let saying: NodeJS.Timeout | undefined;
  const onStop = () => {
    saying = setTimeout(
      () =>
        context.terminal.notice('Stopping: looking what became of what was sent. Once more ends at once.'),
      SAID_AFTER_MS,
    ).unref();
  };
  // With --json stderr is for the error alone.
  if (!json) signal.addEventListener('abort', onStop, { once: true });
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnknownOutcomeError) throw withHint(error, write.hint());
    if (signal.aborted && !(error instanceof EsignError) && !json)
      context.terminal.notice('Stopped before anything was sent.');
    throw error;
  } finally {
    clearTimeout(saying);
    signal.removeEventListener('abort', onStop);
    forget();
  }
}

/** The error with the command that goes on, which only the command line knows. */
export function withHint(error: UnknownOutcomeError, hint: string): UnknownOutcomeError {
  return new UnknownOutcomeError(error.message, { cause: error.cause, hint });
}
