import {
  BadResponseError,
  EsignError,
  type FailedWriteOutcome,
  messageOf,
  OutputError,
  PartialError,
  ServiceError,
  StoppedError,
  UnknownOutcomeError,
} from '../kernel/errors.ts';
import type { Redactor } from '../kernel/redaction.ts';
import { jsonText } from '../output/json.ts';
import { errColumns } from '../output/terminal.ts';
import { paragraph, safeBlock, safeLine } from '../output/text.ts';
import { withAccount } from './account-commands.ts';
import { hintFor } from './error-hints.ts';
import { exitCodeOf } from './exit-codes.ts';
import type { RunAccount } from './session/account.ts';

/** An error as printed with `--json`: one line on stderr. */
export interface ErrorReport {
  code: string;
  message: string;
  status: number | null;
  details: Record<string, string[]> | null;
  hint: string | null;
  /** Commands to try, each ready to run. */
  next: string[];
  /** What a write did; null for reads, and for a summary of several items. */
  outcome: FailedWriteOutcome | null;
  exitCode: number;
  /** The bulk run that failed. */
  run?: string;
}

interface ReportOptions {
  /** Whether the error is of a write. */
  isWrite?: boolean;
  /** A further hint, which only the command line can give. */
  advice?: string | undefined;
  /** The account of the run, for the hint. */
  account?: RunAccount;
  /** The exit code of the signal that ends the process, if any. */
  exitCode?: number | undefined;
}

/** Returns the report of an error, including its exit code. */
export function reportOf(error: unknown, options: ReportOptions = {}): ErrorReport {
  const known = error instanceof EsignError;
  const service = error instanceof ServiceError;
  const { account = NO_ACCOUNT } = options;
  const ownHint = known
    ? (error.hint ?? hintFor(error, account))
    : 'This is a bug. Run the command again with --debug and report the output.';
  const hints = [ownHint, options.advice].filter((text) => text !== undefined);
  const hint = withAccount(hints.join(' '), account);
  return {
    code: known ? error.code : 'UNEXPECTED',
    message: service
      ? messageOfService(error)
      : known
        ? error.message
        : `Internal error: ${messageOf(error)}`,
    status: service || error instanceof BadResponseError ? error.status : null,
    details: known ? (error.details ?? null) : null,
    hint: hint === '' ? null : hint,
    next: commandsIn(hint),
    outcome: options.isWrite ? outcomeOf(error) : null,
    exitCode: options.exitCode ?? exitCodeOf(error),
    ...(known && error.run !== undefined && { run: error.run }),
  };
}

const NO_ACCOUNT: RunAccount = { flags: [] };

/** A command in backticks, with quoted words as a whole. Pipelines don't match. */
const COMMAND = /`(esign(?: (?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"`|\\])+)+)`/g;
/** Words of a command that the reader must replace. `-` stands for IDs from stdin; commands without their arguments only ask, or fail. */
const PLACEHOLDER =
  /(?:^|[ =])(?:-|…|NAME|URL|ID|FILE|DIR|TEXT|KEY|RUN|COMMAND|ENVELOPE|METHOD|PATH|BUCKET|EVENT|SIGNER|FINGERPRINT)(?=[ =]|$)|^esign (?:profiles add|bulk create|envelopes create|events trigger)$/;

/** Returns the commands in a hint that can be run as they stand. */
function commandsIn(hint: string): string[] {
  const commands = [...hint.matchAll(COMMAND)].flatMap(([, one]) => one ?? []);
  return [...new Set(commands)].filter((one) => !PLACEHOLDER.test(one));
}

/** Returns what a failed write did. All other errors are thrown before anything is sent. */
function outcomeOf(error: unknown): FailedWriteOutcome | null {
  if (!(error instanceof EsignError)) return 'unknown';
  if (error.outcome !== undefined) return error.outcome;
  if (error instanceof PartialError || error instanceof StoppedError) return null;
  if (error instanceof OutputError)
    return error.cause instanceof EsignError ? outcomeOf(error.cause) : 'done';
  return error instanceof UnknownOutcomeError ? 'unknown' : 'none';
}

/** Returns the service's message. If the ID is the problem, the ID is added. */
function messageOfService({ code, message, subject }: ServiceError): string {
  const isWrong = subject && ['NOT_FOUND', 'INVALID_STATE'].includes(code) && !message.includes(subject.id);
  return isWrong ? `${subject.id}: ${message}` : message;
}

type Style = (format: 'red' | 'dim', text: string) => string;

/** Formats an error for people: what failed, why, details by field, and what to do next. */
function renderError(error: unknown, report: ErrorReport, style: Style): string {
  const code = error instanceof ServiceError ? ` (${safeLine(report.code)})` : '';
  const lines = [`${style('red', 'Error:')} ${safeLine(report.message)}${code}`];
  for (const [field, messages] of Object.entries(report.details ?? {})) {
    for (const message of messages) lines.push(`  ${safeLine(field)}: ${safeLine(message)}`);
  }
  if (report.hint !== null) lines.push(safeBlock(report.hint));
  return `${lines.join('\n')}\n`;
}

/** Returns the report of an error for stderr, without secrets. */
export function errorText(
  error: unknown,
  options: ReportOptions & { json: boolean; redactor: Redactor; style: Style },
): string {
  const { json, redactor, style } = options;
  const report = reportOf(error, options);
  if (json) return redactor.redact(`${jsonText({ error: report })}\n`);
  // Redacted before it is wrapped, because wrapping could split a secret.
  return paragraph(redactor.redact(renderError(error, report, style)), errColumns());
}
