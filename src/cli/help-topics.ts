import type { Command } from '@oclif/core/command';
import { inColumns } from '../output/text.ts';
import { EXIT_MEANINGS } from './exit-codes.ts';

/** The topic pages of `esign help TOPIC`. `flags` and `filters` describe the flags that many commands share. */
export type TopicPages = Readonly<Record<string, (shared: SharedFlags) => string>>;

/** Returns the rows of all flags in a group. */
export type SharedFlags = (group: string) => string;

/** The groups of flags that are described on a topic page instead of in the help of each command. */
export const SHARED_GROUPS = ['FILTER', 'OUTPUT', 'GLOBAL'];

/** Returns the line that stands for the shared flags of a command. */
export function sharedFlagsLine(flags: readonly Command.Flag.Any[]): string {
  const has = (group: string) => flags.some(({ helpGroup }) => helpGroup === group);
  // `--force` belongs to `-o`.
  const output = flags.filter(({ helpGroup, name }) => helpGroup === 'OUTPUT' && name !== 'force');
  const names = output.map(({ char, name }) => (char === undefined ? `--${name}` : `-${char}`)).sort();
  const parts = [...(has('FILTER') ? ['filters'] : []), ...names, '--json', '…'];
  return `${parts.join(', ')}: see \`esign help flags\``;
}

/** The environment variables, and what each does. */
export const ENVIRONMENT: readonly (readonly [name: string, meaning: string])[] = [
  ['ESIGN_PROFILE', 'profile to use'],
  ['ESIGN_BASE_URL', 'base URL of the API; needs ESIGN_API_KEY'],
  ['ESIGN_API_KEY', 'API key; needs ESIGN_BASE_URL'],
  ['ESIGN_WEBHOOK_SECRET', 'secret that signs the webhooks'],
  ['ESIGN_TIMEOUT', 'time limit for each request, such as 60s'],
  ['ESIGN_BUCKET', 'bucket with the signed documents'],
  ['ESIGN_BUCKET_REGION', 'region of the bucket'],
  ['ESIGN_BUCKET_ENDPOINT', 'URL of a bucket outside AWS'],
  ['ESIGN_CONFIG_DIR', 'folder for profiles and webhook secrets'],
  ['ESIGN_STATE_DIR', 'folder for runs, log, webhooks, and index'],
  ['ESIGN_NO_INDEX', 'if set, no search index is kept'],
  ['ESIGN_NO_SPINNER', 'if set, no spinners or live tables'],
  ['ESIGN_ACCESSIBLE', 'if set, nothing is redrawn; no tables'],
  ['ESIGN_NO_SYSTEM_CA', 'if set, system certificates are not used'],
  ['ESIGN_DEBUG', 'if set, the same as --debug'],
  ['CI', 'if set, the same as --no-input'],
  ['NO_COLOR, FORCE_COLOR, TERM', 'no colors, colors in a pipe, plain text'],
  ['HTTPS_PROXY, ALL_PROXY, NO_PROXY', 'proxy for the API and the bucket'],
  ['NODE_EXTRA_CA_CERTS', 'file with additional certificates'],
  ['AWS_PROFILE, AWS_ACCESS_KEY_ID, …', 'bucket credentials, as for the AWS CLI'],
];

export const HELP_TOPICS: TopicPages = {
  flags: (shared) => `Flags that many commands share

CONNECTION (every command)
${shared('GLOBAL')}

OUTPUT (lists)
${shared('OUTPUT')}

FILTERS (envelopes list, find, late, report)
${shared('FILTER')}

All flags of a command, as JSON: esign COMMAND --help --json`,

  filters: (shared) => `Select envelopes in envelopes list, find, late, and report

${shared('FILTER')}

An envelope must match all filters. --status takes several statuses in any case
(DRAFT, SENT, IN_PROGRESS, COMPLETED, CANCELLED, DECLINED, EXPIRED); "open" is
SENT and IN_PROGRESS. Times are ages (90s, 15m, 2h, 7d), dates (2026-11-01,
which begins at midnight UTC; add a time and offset for another time zone, such
as 2026-11-01T00:00+02:00), or "today" and "yesterday", which begin at midnight
local time.

Commands that act on envelopes have no filters. Pass them the IDs of a list:
  esign envelopes list --status open --since 7d -q | esign envelopes remind -
In scripts, use "set -o pipefail", so that a failed list fails the job.`,

  environment: () => `Environment variables

A flag overrides a variable, and a variable overrides the profile.

${rows(ENVIRONMENT)}

The commands of "envelopes watch --exec" and "listen --exec" get
ESIGN_ENVELOPE_ID, and ESIGN_STATUS (watch) or ESIGN_EVENT (listen).`,

  'exit-codes': () => `Exit codes

${rows(Object.entries(EXIT_MEANINGS))}

With --json, an error is one line on stderr: {"error":{"code","message",…}}.
"next" has commands to try. "outcome" of a write: "none", "done", or "unknown".
The codes of one command: esign COMMAND --help --json`,
};

function rows(cells: readonly (readonly string[])[]): string {
  return inColumns(cells)
    .map((line) => `  ${line}`)
    .join('\n');
}
