import { recordScopeOf } from '../../cli/boot/observations.ts';
import { EsignCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { EXIT } from '../../cli/exit-codes.ts';
import { textFlag } from '../../cli/flags.ts';
import { writeNewFile } from '../../cli/new-file.ts';
import {
  type CompatibilityFinding,
  type CompatibilityReport,
  openPointParts,
  openPointText,
} from '../../compatibility/findings.ts';
import { choicesIn } from '../../compatibility/observed-points.ts';
import { type Places, readRecord } from '../../compatibility/record.ts';
import { recordPath } from '../../compatibility/record-path.ts';
import { reportOf } from '../../compatibility/report.ts';
import { counted } from '../../kernel/duration.ts';
import { NoProfileError } from '../../kernel/errors.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import { jsonText, writeJson } from '../../output/json.ts';
import { indented, renderTable } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';

export default class Compat extends EsignCommand {
  static override summary = 'Show where the service differs from its API document.';
  static override description =
    'Every command compares the responses and verified webhooks it receives with the API document. Only their shapes are stored: property names, types, statuses, and header names. This command sends no requests. Exits with 10 if a response contradicts the API document, unless you pass --share or --choices.';
  static override examples = [
    '<%= config.bin %> compat',
    '<%= config.bin %> compat --json | jq ".contradictions[].what"',
    '<%= config.bin %> compat --share report.md',
    '<%= config.bin %> compat --choices choices.json',
  ];
  static override flags = {
    share: textFlag(
      'FILE',
      'write the report to a file, without IDs or host names; Markdown if it ends in .md',
    ),
    choices: textFlag('FILE', 'write the observed open points to a file for `sandbox start --choices`'),
  };

  async run(): Promise<void> {
    const { flags, context, session, terminal } = await this.start(Compat);
    const scope = recordScopeOf(await session.settings());
    if (scope === undefined)
      throw new NoProfileError('No base URL is configured.', {
        hint: 'Add a profile: `esign profiles add NAME --base-url URL`.',
      });
    const path = recordPath(stateDir(), scope);
    const record = await readRecord(path);
    if (record === 'newer') terminal.notice(`The record ${path} was written by a newer version of esign.`);
    const places: Places = record === 'newer' ? new Map() : record;
    const report = reportOf(places);
    if (flags.share !== undefined) await writeFor(flags.share, shareText(flags.share, report), context);
    if (flags.choices !== undefined)
      await writeFor(flags.choices, `${jsonText(choicesIn(places), 2)}\n`, context);
    const isWritten = flags.share !== undefined || flags.choices !== undefined;
    if (terminal.json) await writeJson(report, terminal);
    else if (!isWritten) await terminal.out(renderReport(report, path, terminal));
    if (report.contradictions.length > 0 && !isWritten) process.exitCode = EXIT.partial;
  }
}

function shareText(file: string, report: CompatibilityReport): string {
  return /\.(md|markdown)$/i.test(file) ? reportPage(report) : `${jsonText(report, 2)}\n`;
}

async function writeFor(path: string, text: string, context: Context): Promise<void> {
  await writeNewFile(path, text, true, context.terminal);
  if (path !== '-') context.terminal.notice(`Wrote ${path}.`);
}

/** Renders the report as Markdown, to be sent to the vendor. */
function reportPage({ contradictions, openPoints, documented, neverSeen }: CompatibilityReport): string {
  const lines = [
    '# Compatibility with the E-Sign Service API v1',
    '',
    "Differences between the service's responses and its API document. This file contains shapes only: no IDs, names, or addresses.",
    '',
    `## Contradictions (${contradictions.length})`,
    '',
    ...(contradictions.length === 0 ? ['None.'] : contradictions.flatMap((one) => itemOf(one, one.what))),
    '',
    `## Open points (${openPoints.length})`,
    '',
    'The API document does not mention these.',
    '',
    ...openPoints.flatMap((one) => itemOf(one, openPointText(one))),
    '',
    `## As documented (${documented.length})`,
    '',
    ...documented.map(({ what, times }) => `- ${escaped(what)}: ${counted(times, 'time')}`),
    '',
    `## Never seen (${neverSeen.length})`,
    '',
    ...neverSeen.map(({ what }) => `- ${escaped(what)}`),
  ];
  return `${lines.join('\n')}\n`;
}

function itemOf({ where, since, times }: CompatibilityFinding, text: string): string[] {
  return [
    `- ${escaped(text)}`,
    `  - Where: ${escaped(where)}`,
    `  - Seen: ${counted(times, 'time')} since ${since}`,
  ];
}

function escaped(text: string): string {
  return text.replaceAll(/[\\`*_<>[\]|]/g, '\\$&');
}

/** Renders the report: findings first on a terminal, one line per finding in a pipe. */
export function renderReport(report: CompatibilityReport, path: string, terminal: Terminal): string {
  return terminal.outIsTty ? renderPage(report, path, terminal) : renderLines(report);
}

function renderLines({ contradictions, openPoints, documented, neverSeen }: CompatibilityReport): string {
  const line = (kind: string, { what, times, since, where }: CompatibilityFinding) =>
    `${[kind, what, String(times), since, where].map(safeLine).join('\t')}\n`;
  return [
    ...contradictions.map((one) => line('contradiction', one)),
    ...openPoints.map((one) => line('open point', { ...one, what: openPointText(one) })),
    ...documented.map((one) => line('documented', one)),
    ...neverSeen.map((one) => line('never seen', { times: 0, since: '', ...one })),
  ].join('');
}

function renderPage(report: CompatibilityReport, path: string, terminal: Terminal): string {
  const { contradictions, openPoints, documented, neverSeen } = report;
  if (documented.length + contradictions.length + openPoints.length === 0)
    return 'Nothing has been recorded for this service yet. Every command that calls it adds to the record.\n';
  const heading = (text: string) => `\n${terminal.style('bold', text)}\n`;
  const line = (text: string) => indented(safeLine(text), 2, terminal);
  const details = (one: CompatibilityFinding) =>
    `  ${terminal.style('dim', line(`${one.where}; ${seenTimes(one)}`))}\n`;
  return [
    contradictions.length === 0
      ? `${terminal.style('green', '✓')} No response contradicts the API document.\n`
      : `${terminal.style('red', counted(contradictions.length, 'contradiction'))} with the API document\n`,
    ...contradictions.map((one) => `${terminal.style('red', '✗')} ${line(one.what)}\n${details(one)}`),
    ...(openPoints.length === 0 ? [] : [heading('Not specified in the API document')]),
    ...openPoints.map((one) => {
      const { name, description } = openPointParts(one.what);
      const what = `• ${line(`${name}: ${one.seen.join('; ')}`)}\n`;
      return `${what}${description === '' ? '' : `  ${line(description)}\n`}${details(one)}`;
    }),
    heading('As documented'),
    renderTable(documented, [{ key: 'what' }, { key: 'times' }, { key: 'where' }], terminal),
    heading(`Never seen: ${neverSeen.length}`),
    `${indented(safeLine(neverSeen.map(({ what }) => openPointParts(what).name).join(', ')), 0, terminal)}\n`,
    `\n${indented(safeLine(`The record is stored in ${path}. Delete it to start over.`), 0, terminal)}\n`,
  ].join('');
}

function seenTimes({ times, since }: CompatibilityFinding): string {
  return `${counted(times, 'time')} since ${since.slice(0, 10)}`;
}
