import type { CheckStatus, DoctorCheck } from '../../doctor/check.ts';
import { counted } from '../../kernel/duration.ts';
import { indented } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';

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
  'base-url': 'Base URL',
  proxy: 'Proxy',
  key: 'API key',
  service: 'Service',
  'key-accepted': 'Key accepted',
  scopes: 'Scopes',
  clock: 'Clock',
  'rate-limit': 'Rate limit',
  compatibility: 'Compatibility',
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
