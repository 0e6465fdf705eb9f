import {
  BadResponseError,
  EsignError,
  type FailedWriteOutcome,
  messageOf,
  OutputError,
  PartialError,
  ServiceError,
  StoppedError,
  type Subject,
  UnknownOutcomeError,
} from '../kernel/errors.ts';
import { ownValue } from '../kernel/json.ts';
import type { Redactor } from '../kernel/redaction.ts';
import { isNotFound } from '../kernel/request-failures.ts';
import { command, wordsForHint } from '../kernel/text/shell-words.ts';
import { jsonText } from '../output/json.ts';
import { errColumns } from '../output/terminal.ts';
import { paragraph, safeBlock, safeLine } from '../output/text.ts';
import { withAccount } from './account-commands.ts';
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
/** Words of a command that the reader must replace. `-` stands for IDs from stdin, and a command that only asks is not for scripts. */
const PLACEHOLDER =
  /(?:^|[ =])(?:-|…|NAME|URL|ID|FILE|DIR|TEXT|KEY|RUN|COMMAND|ENVELOPE|METHOD|PATH|BUCKET|EVENT|SIGNER|FINGERPRINT)(?=[ =]|$)|^esign profiles add$/;

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

const HINTS: Readonly<Record<string, string>> = {
  FORBIDDEN:
    'The key may lack a scope (creating, sending, canceling, and reminding need esign:write), or the organization may lack a bucket or a plan with API access.',
  QUOTA_EXCEEDED:
    'The organization has reached its monthly envelope limit, which resets at the start of the next month.',
  NETWORK: 'To find the cause, run `esign doctor`.',
  VALIDATION_ERROR: 'Fix these values and run the command again. To see the request, add --debug.',
  RATE_LIMITED: 'Wait for the rate limit to reset, or send fewer requests.',
};

function hintFor(error: EsignError, account: RunAccount): string | undefined {
  if (error.code === 'UNAUTHORIZED') return refusedKeyHint(account);
  if (isNotFound(error)) return notFoundHint(error.subject);
  if (error instanceof ServiceError && error.code === 'INVALID_STATE' && error.subject)
    return `Check its status: \`${command('envelopes', 'get', error.subject.id)}\`.`;
  const known = ownValue(HINTS, error.code);
  if (known !== undefined || !(error instanceof ServiceError)) return known;
  return error.status >= 500
    ? 'The service reported an error. Try again later, or check the service with `esign doctor`.'
    : 'Run the command again with --debug to see the request and the response.';
}

/** Says whose key was refused, and how to replace it. */
function refusedKeyHint({ settings }: RunAccount): string {
  const why = 'is wrong, revoked, or expired';
  const name = settings?.profileName?.value;
  if (settings?.apiKey?.source === 'environment') return `The key in ESIGN_API_KEY ${why}.`;
  if (name === undefined) return `The key ${why}. To see which key is used, run \`esign profiles show\`.`;
  if (settings?.apiKey?.kind === 'command')
    return `The key from the command of profile ${name} ${why}. To see the command, run \`${command('profiles', 'show', name)}\`.`;
  return `The key of profile ${name} ${why}. To replace it, run \`${command('profiles', 'edit', name, '--api-key-file', '-')}\`.`;
}

function notFoundHint(subject: Subject | undefined): string {
  const others = 'A key can access only its own organization; `esign profiles show` shows the key in use.';
  if (subject === undefined) return `Check the ID. ${others}`;
  const { kind, id } = subject;
  const suggestions = wordsForHint(subject.suggestions ?? []);
  const search =
    kind === 'envelope' && !id.includes('`') ? `To search, run \`${command('find', id)}\`.` : 'Check the ID.';
  const guess = suggestions.length === 0 ? search : `Did you mean ${suggestions.join(' or ')}?`;
  return `${guess} \`${command(`${kind}s`, 'list')}\` lists ${kind === 'envelope' ? 'the latest envelopes' : 'the templates'}. ${others}`;
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
