import type { OnSearchStart } from '../catalog/find-by-request-id.ts';
import { EarlierUnknownError, EsignError, UnknownOutcomeError } from '../kernel/errors.ts';
import { errorText } from './error-report.ts';
import type { Context } from './session/context.ts';
import type { CommandTerminal } from './terminal.ts';

/** The messages for a write whose outcome is unknown. */
export interface UnknownOutcomeMessages {
  /** Returns a description of what is unknown if the process must end now. */
  unknown: () => string;
  /** Returns the command that is safe to run in that case. */
  hint: () => string;
}

/** What a write needs: the signal of Ctrl-C, and how to show that its envelope is being searched for. */
export interface WriteHooksAndSignal {
  signal: AbortSignal;
  searching: OnSearchStart;
}

/** Stops and searches that take less time than this are not announced. */
const NOTICE_DELAY_MS = 300;

/**
 * Runs a write. After Ctrl-C, it waits briefly for the response and then checks whether the write went through
 * (once/). If the process must end earlier, it prints what is unknown and how to continue.
 */
export async function withOutcomeCheck<T>(
  write: UnknownOutcomeMessages,
  context: Context,
  work: (running: WriteHooksAndSignal) => Promise<T>,
): Promise<T> {
  const { terminal, interrupt } = context;
  const { json, redactor, account, styleErr: style } = terminal;
  const { signal } = interrupt;
  const forget = interrupt.ifInterrupted((exitCode) => {
    const error = new UnknownOutcomeError(write.unknown(), { hint: write.hint() });
    return errorText(error, { json, redactor, style, exitCode, account, isWrite: true });
  });
  const searching = () => announceSearch(context.terminal);
  let noticeTimer: NodeJS.Timeout | undefined;
  const onStop = () => {
    noticeTimer = setTimeout(
      () =>
        context.terminal.notice(
          'Stopping. Checking whether the request went through… Press Ctrl-C again to quit.',
        ),
      NOTICE_DELAY_MS,
    ).unref();
  };
  // With --json, stderr contains only the error.
  if (!json) signal.addEventListener('abort', onStop, { once: true });
  try {
    return await work({ signal, searching });
  } catch (error) {
    if (error instanceof UnknownOutcomeError && !(error instanceof EarlierUnknownError))
      throw withHint(error, write.hint());
    if (signal.aborted && !(error instanceof EsignError) && !json)
      context.terminal.notice('Stopped before anything was sent.');
    throw error;
  } finally {
    clearTimeout(noticeTimer);
    signal.removeEventListener('abort', onStop);
    forget();
  }
}

/** Shows that an envelope is being searched for: as an indicator on a terminal, and as a line elsewhere if it takes a while. */
export function announceSearch(
  terminal: Pick<CommandTerminal, 'errIsTty' | 'notice' | 'showWaiting'>,
): () => void {
  const text = 'Searching for the envelope (up to a minute)';
  if (terminal.errIsTty) return terminal.showWaiting(text, { immediately: true });
  const timer = setTimeout(() => terminal.notice(`${text}…`), NOTICE_DELAY_MS);
  return () => clearTimeout(timer);
}

/** Adds a hint with the command that continues, which only the command line can determine. */
export function withHint(error: UnknownOutcomeError, hint: string): UnknownOutcomeError {
  return new UnknownOutcomeError(error.message, { cause: error.cause, hint });
}
