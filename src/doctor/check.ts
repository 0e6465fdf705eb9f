import { EsignError, messageOf, UsageError } from '../kernel/errors.ts';

export type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped';

/** The result of a check, as it is shown. */
export interface DoctorCheck {
  /** Stable, for scripts: `key`, `clock`, … */
  name: string;
  status: CheckStatus;
  message: string;
  /** How to fix it. */
  fix: string | null;
}

/** A check, and for a failed one the error that decides the exit code. */
export interface DoctorFinding {
  check: DoctorCheck;
  error: EsignError | undefined;
}

export function ok(name: string, message: string): DoctorFinding {
  return { check: { name, status: 'ok', message, fix: null }, error: undefined };
}

export function skipped(name: string, message: string): DoctorFinding {
  return { check: { name, status: 'skipped', message, fix: null }, error: undefined };
}

export function warning(name: string, message: string, fix: string): DoctorFinding {
  return { check: { name, status: 'warning', message, fix }, error: undefined };
}

/** A failure with its own fix, or the error's hint. An error of another class is a wrong setting. */
export function failed(name: string, error: unknown, fix?: string): DoctorFinding {
  const known = error instanceof EsignError ? error : new UsageError(messageOf(error), { cause: error });
  const check: DoctorCheck = {
    name,
    status: 'failed',
    message: known.message,
    fix: fix ?? known.hint ?? null,
  };
  return { check, error: known };
}
