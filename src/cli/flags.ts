import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { REQUEST_TIMEOUT_MS } from '../api/request-defaults.ts';
import { type Moment, writtenTime } from '../kernel/clock.ts';
import { durationText, parseDuration } from '../kernel/duration.ts';
import { durationHint, readDuration, readRate } from '../kernel/duration-input.ts';
import { UsageError } from '../kernel/errors.ts';
import { ENVELOPE_STATUSES, IN_FLIGHT } from '../kernel/statuses.ts';
import { nearest } from '../kernel/text/nearest.ts';
import { DOCUMENT_KINDS, type DocumentKind } from '../kernel/vocabulary.ts';
import { LIST_LIMIT } from './input/list-limit.ts';

interface MoreFlagFacts {
  char?: 'i' | 'o' | 'p' | 'q' | 'y';
  aliases?: string[];
  dependsOn?: string[];
  exclusive?: string[];
  helpGroup?: string;
}

/** Creates a flag with a text value. `helpValue` represents the value in the help. */
export function textFlag(helpValue: string, description: string, more: MoreFlagFacts = {}) {
  return Flags.string({ description, helpValue, ...more });
}

export function repeatedTextFlag(helpValue: string, description: string) {
  return Flags.string({ description, helpValue, multiple: true, multipleNonGreedy: true });
}

/** Creates a flag without a value. With `allowNo`, it also has a form that starts with --no-. */
export function booleanFlag(
  description: string,
  more: MoreFlagFacts & { allowNo?: boolean; default?: boolean } = {},
) {
  return Flags.boolean({ description, ...more });
}

export function numberFlag(description: string, more: MoreFlagFacts & { min?: number; max?: number }) {
  return Flags.integer({ description, helpValue: 'N', ...more });
}

/** Creates an argument. stdin is read only where it says `-`. */
export function optionalArg(description: string) {
  return Args.string({ description, ignoreStdin: true });
}

export function requiredArg(description: string) {
  return Args.string({ description, required: true, ignoreStdin: true });
}

export function inGroup<F extends Record<string, { helpGroup?: string | undefined }>>(
  group: string,
  flags: F,
): F {
  for (const flag of Object.values(flags)) flag.helpGroup = group;
  return flags;
}

export const commonFlags = inGroup('GLOBAL', {
  json: booleanFlag('print JSON; errors are printed to stderr as one JSON line'),
  profile: textFlag('NAME', 'profile to use (default: the current one)', { char: 'p' }),
  'base-url': textFlag('URL', "API base URL (overrides the profile's)"),
  timeout: textFlag('30s', `time limit for each request (default ${durationText(REQUEST_TIMEOUT_MS)})`),
  'no-input': booleanFlag('disable prompts'),
  'no-wait': booleanFlag('exit with code 7 instead of waiting for the rate limit to reset'),
  debug: booleanFlag('print each request and response to stderr, without secrets'),
});

/** Creates the `--quiet` flag of a list. `what` names the values that it prints. */
export function quietFlag(what: string) {
  return booleanFlag(`print only ${what}, one per line`, {
    char: 'q',
    exclusive: ['json'],
    helpGroup: 'OUTPUT',
  });
}

/** Creates the `--fields` flag of a list. `example` names two or three of its fields. */
export function fieldsFlag(example: string) {
  return textFlag('A,B', `columns to print, such as ${example}`, {
    exclusive: ['quiet'],
    helpGroup: 'OUTPUT',
  });
}

/** Creates the `--force` flag of a command that writes a file. */
export function forceFlag() {
  return booleanFlag('replace an existing file', { default: false });
}

/** Creates the `--output` flag of a list. `exclusive` names the flags for other formats. */
export function outputFlag(exclusive: string[]) {
  return textFlag('FILE', 'write a workbook (.xlsx), or CSV that spreadsheet programs open (.csv)', {
    char: 'o',
    exclusive,
    helpGroup: 'OUTPUT',
  });
}

/** The output flags of the lists that people export. */
export const formatFlags = inGroup('OUTPUT', {
  output: outputFlag(['json', 'quiet']),
  force: forceFlag(),
  csv: booleanFlag('print CSV with a header', { exclusive: ['json', 'quiet'] }),
  fields: fieldsFlag('id,status,signers.0.email'),
  quiet: quietFlag('IDs'),
});

/** The flags of lists that may be long. */
export const listFlags = {
  quiet: quietFlag('IDs'),
  ...inGroup('OUTPUT', {
    limit: Flags.integer({
      char: 'L',
      description: `maximum number of items (default ${LIST_LIMIT})`,
      helpValue: 'N',
      min: 1,
      exclusive: ['all'],
    }),
    all: booleanFlag('list all items'),
  }),
};

/** The flags of long lists that people export. */
export const exportListFlags = { ...listFlags, ...formatFlags };

/** The flags for reading a file of rows. */
export const readFlags = inGroup('FILE', {
  encoding: textFlag(
    'NAME',
    'file encoding, such as windows-1252 (default: utf-8, or detected from the byte order mark)',
  ),
  sheet: textFlag('NAME', 'sheet in an .xlsx file (default: the first one)'),
});

export const rowsFile = {
  file: requiredArg('CSV, .xlsx, or JSON Lines, or `-` for stdin'),
};

export const envelopeArg = {
  envelope: requiredArg('envelope ID'),
};
export const latestRunArg = {
  run: optionalArg('run ID (default: the latest run of the account)'),
};

export const messageFileFlag = textFlag('FILE', 'read the message from a file', { helpGroup: 'EMAIL' });

export const yesFlag = booleanFlag('skip the confirmation prompt', { char: 'y' });
export const confirmFlag = textFlag('NAME', 'profile name, to confirm writes if the profile requires it', {
  helpGroup: 'GUARD',
});
export const dryRunFlag = booleanFlag('show what would be done, without doing it');

export const missingRolesFlag = booleanFlag('continue even if a role has no signer', {
  default: false,
});

/** Creates a flag with a duration such as 90s, 15m, 2h, or 7d. Its value is in ms, and at least `least`. */
export function durationFlag(helpValue: string, description: string, least?: number) {
  return Flags.custom<number>({
    description,
    helpValue,
    parse: (text, _context, { name }) => Promise.resolve(readDuration(text, `--${name}`, least)),
  })();
}

/** Durations separated by commas, such as 3d,7d,12d. Its value is in ms. */
export const durationsFlag = Flags.custom<number[]>({
  parse: (text, _context, { name }) =>
    Promise.resolve(text.split(',').map((one) => readDuration(one, `--${name}`, 1))),
});

/** A time in the past: 7d (ago), 2026-11-01, or 2026-11-01T10:00:00Z. */
export const sinceFlag = Flags.custom<Moment>({
  parse: (text, _context, { name }) => Promise.resolve(momentOf(text, `--${name}`)),
});

/** Parses a time as sinceFlag does, for values that are not flags. `name` is used in the error. */
export function momentOf(text: string, name: string): Moment {
  const ago = parseDuration(text);
  if (ago !== undefined) return (now) => now - ago;
  const days = ['today', 'yesterday'].indexOf(text.trim().toLowerCase());
  if (days >= 0) return (now) => midnightBefore(now, days);
  const at = writtenTime(text);
  if (!Number.isNaN(at)) return () => at;
  throw new UsageError(`${name} "${text}" is neither a duration nor a date.`, {
    hint: durationHint(text, 'Examples: 7d, yesterday, 2026-11-01, 2026-11-01T10:00:00Z'),
  });
}

/** Returns the start of a day in local time, which is 01:00 where daylight saving time begins at midnight. */
function midnightBefore(now: number, days: number): number {
  const today = new Date(now);
  return new Date(today.getFullYear(), today.getMonth(), today.getDate() - days).getTime();
}

const STATUS_ALIASES: Readonly<Record<string, string>> = {
  CANCELED: 'CANCELLED',
  VOIDED: 'CANCELLED',
  COMPLETE: 'COMPLETED',
  SIGNING: 'IN_PROGRESS',
};

/** Envelope statuses, separated by commas, in any case. The words of the service's dashboard are accepted as aliases. */
export const statusesFlag = Flags.custom<string[]>({
  parse: (text) => Promise.resolve([...new Set(text.split(',').flatMap(readStatuses))]),
});

function readStatuses(text: string): readonly string[] {
  const word = text
    .trim()
    .toUpperCase()
    .replaceAll(/[\s-]+/g, '_');
  if (word === 'OPEN') return IN_FLIGHT;
  const status = STATUS_ALIASES[word] ?? word;
  if (ENVELOPE_STATUSES.some((known) => known === status)) return [status];
  const suggestion = nearest(status, [...ENVELOPE_STATUSES, 'open']);
  const all = `The statuses are ${ENVELOPE_STATUSES.join(', ')}; "open" is ${IN_FLIGHT.join(' and ')}.`;
  throw new UsageError(`Unknown status "${text.trim()}".`, {
    hint: suggestion === undefined ? all : `Did you mean ${suggestion}? ${all}`,
  });
}

/** Kinds of documents, separated by commas. */
export const kindsFlag = Flags.custom<DocumentKind[]>({
  parse: (text) => Promise.resolve([...new Set(text.split(',').map(readKind))]),
});

function readKind(text: string): DocumentKind {
  const kind = DOCUMENT_KINDS.find((known) => known === text.trim().toLowerCase());
  if (kind !== undefined) return kind;
  throw new UsageError(`Unknown document type "${text.trim()}".`, {
    hint: `The types are ${DOCUMENT_KINDS.join(', ')}.`,
  });
}

/** Requests per window, such as 10000/15m or 40/3s. */
export const rateLimitFlag = Flags.custom<{ requests: number; seconds: number }>({
  parse: (text) => Promise.resolve(readRate(text)),
});
