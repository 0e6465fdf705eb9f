import {
  BadResponseError,
  EsignError,
  isNotFound,
  messageOf,
  ServiceError,
  type Subject,
} from '../kernel/errors.ts';
import { entryOf } from '../kernel/json.ts';
import type { Redactor } from '../kernel/redaction.ts';
import { command } from '../kernel/text/shell-words.ts';
import { jsonText } from '../output/json.ts';
import { errColumns } from '../output/terminal.ts';
import { paragraph, safeBlock, safeLine } from '../output/text.ts';
import { exitCodeOf } from './exit-codes.ts';

/** The error as `--json` prints it, on one line of stderr. */
export interface ErrorReport {
  code: string;
  message: string;
  status: number | null;
  details: Record<string, string[]> | null;
  hint: string | null;
  exitCode: number;
}

/** The facts of an error; one place decides what is said of it and with which code the process ends. */
export function reportOf(error: unknown, exitCode = exitCodeOf(error)): ErrorReport {
  const known = error instanceof EsignError;
  const service = error instanceof ServiceError;
  return {
    code: known ? error.code : 'UNEXPECTED',
    message: service
      ? messageOfService(error)
      : known
        ? error.message
        : `Something went wrong inside esign: ${messageOf(error)}`,
    status: service || error instanceof BadResponseError ? error.status : null,
    details: service ? (error.details ?? null) : null,
    hint:
      (known ? (error.hint ?? hintFor(error)) : 'Run it again with --debug, and report what it says.') ??
      null,
    exitCode,
  };
}

const HINTS: Readonly<Record<string, string>> = {
  UNAUTHORIZED: 'The key is wrong, revoked or expired. See which one is used: `esign profiles show`.',
  FORBIDDEN:
    'The key may lack the scope (esign:write to create, send, cancel, remind), or the organisation its bucket or plan.',
  QUOTA_EXCEEDED: "The organisation's monthly envelope limit is reached; it resets with the month.",
  NETWORK: 'See what stands in the way: `esign doctor`.',
  VALIDATION_ERROR: 'Mend what it names, and run the same again; --debug shows the request.',
  RATE_LIMITED: 'Wait for the rate window to reset, or send fewer requests.',
};

function hintFor(error: EsignError): string | undefined {
  if (isNotFound(error)) return notFoundHint(error.subject);
  if (error instanceof ServiceError && error.code === 'INVALID_STATE' && error.subject)
    return `See where it stands: \`${command('envelopes', 'get', error.subject.id)}\`.`;
  const known = entryOf(HINTS, error.code);
  if (known !== undefined || !(error instanceof ServiceError)) return known;
  return error.status >= 500
    ? 'The service is in trouble. Try again later; `esign doctor` tells whether it answers.'
    : 'Run it again with --debug, which shows the request and the reply.';
}

function notFoundHint(subject: Subject | undefined): string {
  const others = 'A key sees only its own organisation: `esign profiles show`.';
  if (subject === undefined) return `Check the id. ${others}`;
  const { kind, meant = [] } = subject;
  const guess = meant.length === 0 ? 'Check the id;' : `Did you mean ${meant.join(' or ')}?`;
  return `${guess} \`${command(`${kind}s`, 'list')}\` shows ${kind === 'envelope' ? 'the latest' : 'them'}. ${others}`;
}

/** What the service said, with the id where that is what is wrong. */
function messageOfService({ code, message, subject }: ServiceError): string {
  const isWrong = subject && ['NOT_FOUND', 'INVALID_STATE'].includes(code) && !message.includes(subject.id);
  return isWrong ? `${subject.id}: ${message}` : message;
}

/** The error for people: what failed, why, each detail by field, what to do next. */
function renderError(error: unknown, style: (format: 'red' | 'dim', text: string) => string): string {
  const report = reportOf(error);
  const code = error instanceof ServiceError ? ` (${safeLine(report.code)})` : '';
  const lines = [`${style('red', 'Error:')} ${safeBlock(report.message)}${code}`];
  for (const [field, messages] of Object.entries(report.details ?? {})) {
    for (const message of messages) lines.push(`  ${safeLine(field)}: ${safeLine(message)}`);
  }
  if (report.hint !== null) lines.push(safeBlock(report.hint));
  return `${lines.join('\n')}\n`;
}

/** The whole report as text for stderr, with every secret removed. */
export function errorText(
  error: unknown,
  options: {
    json: boolean;
    redactor: Redactor;
    style: (format: 'red' | 'dim', text: string) => string;
    /** That of the signal which ends the process, where one does. */
    exitCode?: number | undefined;
  },
): string {
  const { json, exitCode } = options;
  const { redactor, style } = options;
  if (json) return redactor.redact(`${jsonText({ error: reportOf(error, exitCode) })}\n`);
  // Redacted before it is broken into lines: a secret over two lines would not be known.
  return paragraph(redactor.redact(renderError(error, style)), errColumns());
}
