import { FileStore } from '../../catalog/index/file-store.ts';
import { readIndex } from '../../catalog/index/read-index.ts';
import { withAccount } from '../../cli/account-commands.ts';
import { EsignCommand } from '../../cli/command.ts';
import { exitCodeOf } from '../../cli/exit-codes.ts';
import type { RunAccount } from '../../cli/session/account.ts';
import type { Context } from '../../cli/session/context.ts';
import { indexPathOf } from '../../cli/session/seen-data.ts';
import { probeBucket } from '../../documents/bucket/bucket.ts';
import { counted } from '../../kernel/duration.ts';
import { configDir, stateDir } from '../../kernel/files/paths.ts';
import { writeJson } from '../../output/json.ts';
import { indented } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';
import { storePath } from '../../settings/store.ts';
import type { CheckStatus, DoctorCheck, DoctorFinding } from '../doctor/check.ts';
import { runChecks } from '../doctor/checks.ts';
import type { DoctorContext, IndexFacts } from '../doctor/doctor-context.ts';

export default class Doctor extends EsignCommand {
  static override summary = 'Check your setup and show how to fix each problem.';
  static override description =
    'Checks Node, file permissions, profile, guards, API key, service, clock, rate limit, lists, proxy, search index, and bucket, using at most one GET request each. Changes nothing. Exits with 0 if no check fails, otherwise with the exit code of the first failure.';
  static override examples = [
    '<%= config.bin %> doctor',
    '<%= config.bin %> doctor --profile acme',
    '<%= config.bin %> doctor --json | jq ".checks[] | select(.fix)"',
  ];

  async run(): Promise<void> {
    const { context, terminal } = await this.start(Doctor);
    const out = terminal.hidingSecrets();
    const checks: DoctorCheck[] = [];
    const page = checkPrinter((check) => out.out(renderCheck(check, terminal)));
    let first: DoctorFinding | undefined;
    for await (const finding of runChecks(doctorContextOf(context))) {
      const check = withAccountIn(finding.check, terminal.account);
      checks.push(check);
      if (finding.error !== undefined) first ??= finding;
      if (!terminal.json) await page.add(check);
    }
    await page.end();
    await (terminal.json
      ? writeJson({ ok: first === undefined, checks }, out)
      : terminal.out(renderVerdict(checks, terminal)));
    // The report is the result, so no separate error is printed.
    if (first !== undefined) process.exitCode = exitCodeOf(first.error);
  }
}

/** Names the profile in the commands of a check. */
function withAccountIn(check: DoctorCheck, account: RunAccount): DoctorCheck {
  const { message, fix } = check;
  return { ...check, message: withAccount(message, account), fix: fix && withAccount(fix, account) };
}

/** Prints checks as they arrive. Consecutive checks that were skipped for the same reason are printed as one line. */
function checkPrinter(write: (check: DoctorCheck) => Promise<void>) {
  let pending: DoctorCheck[] = [];
  async function end(): Promise<void> {
    const [first, ...others] = pending;
    pending = [];
    if (first === undefined) return;
    const more = others.length > 0 ? ` (and for ${counted(others.length, 'other check')})` : '';
    await write({ ...first, message: `${first.message}${more}` });
  }
  async function add(check: DoctorCheck): Promise<void> {
    if (pending[0]?.message !== check.message) await end();
    if (check.status === 'skipped') pending.push(check);
    else await write(check);
  }
  return { add, end };
}

async function indexFacts({ session }: Context): Promise<IndexFacts | 'off' | undefined> {
  const settings = await session.settings();
  if (settings.baseUrl === undefined || settings.apiKey === undefined) return undefined;
  const file = indexPathOf(settings);
  if (file === undefined) return 'off';
  const { known, completeness, size } = await readIndex(new FileStore(file));
  return { file, envelopes: known.size, bytes: size, completeAt: completeness?.complete };
}

function doctorContextOf(context: Context): DoctorContext {
  const folder = configDir();
  return {
    nodeVersion: process.version,
    platform: process.platform,
    env: process.env,
    configDir: folder,
    stateDir: stateDir(),
    storeFile: storePath(folder),
    guards: async () =>
      (await import('../../cli/session/command-gate.ts')).guardsOf(
        await context.session.settings(),
        context.session,
      ),
    settings: () => context.session.settings(),
    client: () => context.session.client(),
    checkBucket: (...args) => context.terminal.waiting('Waiting for the bucket', () => probeBucket(...args)),
    index: () => indexFacts(context),
    now: () => context.session.clock.now(),
    signal: context.interrupt.signal,
  };
}

const MARKS: Readonly<Record<CheckStatus, readonly [string, Parameters<Terminal['style']>[0]]>> = {
  ok: ['✓', 'green'],
  warning: ['!', 'yellow'],
  failed: ['✗', 'red'],
  skipped: ['–', 'dim'],
};
const LABELS: Readonly<Record<string, string>> = {
  node: 'Node',
  config: 'Permissions',
  profile: 'Profile',
  guards: 'Guards',
  state: 'State folder',
  'old-state': 'Earlier version',
  'base-url': 'Base URL',
  proxy: 'Proxy',
  key: 'API key',
  service: 'Service',
  'key-accepted': 'Key accepted',
  scopes: 'Scopes',
  clock: 'Clock',
  'rate-limit': 'Rate limit',
  lists: 'Lists',
  index: 'Search index',
  bucket: 'Bucket',
};
const WIDTH = Math.max(...Object.values(LABELS).map((label) => label.length)) + 2;

/** Renders a check as a line, with its fix below. */
export function renderCheck(check: DoctorCheck, terminal: Terminal): string {
  const [mark, color] = MARKS[check.status];
  const label = (LABELS[check.name] ?? check.name).padEnd(WIDTH);
  const message = indented(safeLine(check.message), WIDTH + 2, terminal);
  const line = `${terminal.style(color, mark)} ${label}${message}\n`;
  if (check.fix === null) return line;
  const fix = check.fix
    .split('\n')
    .map((part) => `  ${' '.repeat(WIDTH)}→ ${indented(safeLine(part), WIDTH + 4, terminal)}\n`);
  return `${line}${fix.join('')}`;
}

/** Renders the last line: the overall result. */
export function renderVerdict(checks: readonly DoctorCheck[], terminal: Terminal): string {
  const failed = checks.filter((check) => check.status === 'failed').length;
  const warnings = checks.filter((check) => check.status === 'warning').length;
  if (failed > 0) return `\n${terminal.style('red', `${failed} of ${checks.length} checks failed.`)}\n`;
  if (warnings > 0) return `\nNo checks failed; ${counted(warnings, 'warning')}.\n`;
  return `\n${terminal.style('green', 'No problems found.')}\n`;
}
