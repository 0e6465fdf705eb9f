import { EsignError, type FailedWriteOutcome, ServiceError, StoppedError, sentenceOf } from './errors.ts';

interface Halfway {
  /** A sentence about the steps that are done, and those that are not. */
  state: string;
  /** What this process did. After some of the steps, it is neither nothing nor everything, which is `unknown`. */
  outcome: FailedWriteOutcome;
  hint: string;
}

/** Adds the state of a write of several steps to the error that ended it. A stop by the signal becomes an error. */
export function halfwayError(
  error: unknown,
  { state, outcome, hint }: Halfway,
  signal: AbortSignal,
): unknown {
  if (!(error instanceof EsignError)) {
    return signal.aborted ? new StoppedError('INTERRUPTED', `Stopped: ${state}`, { outcome, hint }) : error;
  }
  return errorWithState(error, { state, outcome, hint });
}

/** Adds the state of a write of several steps to the error that ended it. The code stays the same. */
export function errorWithState(error: EsignError, { state, outcome, hint }: Halfway): EsignError {
  const message = `${sentenceOf(error)} ${state}`;
  const facts = { cause: error, outcome, hint: [error.hint, hint].filter(Boolean).join('\n') };
  if (!(error instanceof ServiceError)) return new StoppedError(error.code, message, facts);
  const { status, details } = error;
  return new ServiceError(error.code, message, { ...facts, status, details });
}
