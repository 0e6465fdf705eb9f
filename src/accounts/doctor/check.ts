import { EsignError, messageOf, UsageError } from '../../kernel/errors.ts';

export type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped';

/** The result of a check as shown to the user. */
export interface DoctorCheck {
  /** A stable name for scripts: `key`, `clock`, … */
  name: string;
  status: CheckStatus;
  message: string;
  /** How to fix the problem, or null. */
  fix: string | null;
}

/** The result of a check. If it failed, the error determines the exit code. */
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

/** Returns a failed check with the given fix or the error's hint. Errors of other classes are treated as an invalid setting. */
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
