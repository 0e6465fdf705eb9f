import type { Client } from '../../../api/client.ts';
import type { HistoryFindings } from '../../../catalog/account-history.ts';
import { noteRefusal } from '../../../cli/dry-run.ts';
import { accountText, confirmWrites } from '../../../cli/input/confirm.ts';
import { renderNextSteps } from '../../../cli/next-steps.ts';
import { rebuildCommand } from '../../../cli/rebuild-command.ts';
import type { Context } from '../../../cli/session/context.ts';
import {
  findingsAsJson,
  findingsInHistory,
  type LabeledNotice,
  noticesOf,
} from '../../../envelopes/commands/history-findings.ts';
import { counted, countedPeople, durationInWords, grouped } from '../../../kernel/duration.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import { writeJson } from '../../../output/json.ts';
import { indented, renderPairs } from '../../../output/table.ts';
import type { Terminal } from '../../../output/terminal.ts';
import { safeBlock, safeLine } from '../../../output/text.ts';
import type { RunState } from '../../../runs/run-state.ts';
import { timeForRequests } from '../../estimate.ts';
import type { PlannedWork } from '../../planned-work.ts';
import type { FileReport } from '../../rows/check-file.ts';
import type { NewRun } from './new-run.ts';
import { sentRowsInWords } from './sent-rows.ts';

type SummaryLines = [label: string, text: string][];

interface Confirming {
  yes: boolean | undefined;
  /** Whether a single row needs confirmation, too. */
  always?: boolean;
  /** Whether stdin contains the rows. */
  fromStdin?: boolean;
}

/** Shows what a new run will do, and asks for confirmation. */
export async function confirmNewRun(run: NewRun, client: Client, context: Context): Promise<void> {
  const { request, list, work, left } = run;
  const first = work.rows < left ? `the first ${grouped(work.rows)} of ` : '';
  if (!context.terminal.json) {
    const findings = await findingsInHistory(run.sent.history, run.rows, client, context);
    context.terminal.err(await newRunText(run, findings, client, context));
  }
  await confirmRows(work, `${first}${rowsInWords(work, left)}`, context, {
    yes: request.yes,
    always: list.report.isIncomplete && !request.allowMissing,
    fromStdin: request.file === '-',
  });
}

/** Shows what is left of a run, and asks for confirmation. `last`: the last row that it works on now. */
export async function confirmRest(
  state: RunState,
  { work, last }: { work: PlannedWork; last: number },
  yes: boolean | undefined,
  context: Context,
): Promise<void> {
  const { id, total } = state.head;
  const left = total - state.finishedCount;
  const which = last < total ? `the next ${grouped(work.rows)} of ` : 'the other ';
  await confirmRows(work, `${which}${rowsInWords(work, left)} of ${id}`, context, { yes });
}

function rowsInWords({ mode }: PlannedWork, count: number): string {
  return counted(count, mode === 'draft' ? 'draft' : 'envelope');
}

/**
 * Asks for confirmation, also as the guards require. Drafts email nobody, so without a terminal, only sending needs --yes.
 * @throws UsageError when it is refused; GuardError
 */
async function confirmRows(
  { mode, rows, people, emails, write }: PlannedWork,
  what: string,
  context: Context,
  { yes, always = false, fromStdin = false }: Confirming,
): Promise<void> {
  const sends = mode !== 'draft';
  const question = {
    what: sends ? `Send ${what} to ${countedPeople(people.length)}${turnsInWords(emails)}` : `Create ${what}`,
    yes: yes || (!sends && !context.terminal.canAsk),
    otherwise: 'nothing was sent',
    fromStdin,
  };
  await confirmWrites([write], rows > 1 || always ? question : undefined, context);
}

/** Prints what a new run would do; nothing is stored. */
export async function printNewRunPlan(run: NewRun, client: Client, context: Context): Promise<void> {
  const { terminal } = context;
  const { list, sent, work } = run;
  const { line = null, subject = null, message = null } = exampleOf(run) ?? {};
  const { rows, signers, emails, requests } = work;
  const findings = await findingsInHistory(sent.history, run.rows, client, context);
  if (terminal.json) {
    const existing = sent.known.existing.length;
    const send = work.mode !== 'draft';
    const first = { line, subject, message };
    const file = list.report.name;
    const people = work.people.length;
    const counts = { rows, signers, people, emails, existing };
    await writeJson(
      { dryRun: true, file, ...counts, send, requests, first, known: findingsAsJson(findings) },
      terminal,
    );
  } else {
    const body = message === null ? '' : `\n${safeBlock(message).replaceAll(/^/gm, '  ')}\n`;
    await terminal.out(
      `${await newRunText(run, findings, client, context)}${body}${afterDryRun(work, context, {
        isComplete: !list.report.isIncomplete,
        fromStdin: run.request.file === '-',
      })}`,
    );
  }
  await noteRefusal(rows > 0 ? [work.write] : [], context);
}

/** Returns the last lines of a dry run, with the command that does it. */
function afterDryRun(
  { mode, rows }: PlannedWork,
  { session, terminal }: Context,
  { isComplete = true, fromStdin = false } = {},
): string {
  const text = `${isComplete ? 'No problems found' : 'Check complete'}. Nothing was sent.\n`;
  if (rows === 0 || fromStdin) return text;
  const words = session.words.filter((word) => word !== '--dry-run');
  const label = mode === 'draft' ? 'Create the drafts:' : 'Send:';
  return `${text}${renderNextSteps([[label, rebuildCommand(words)]], terminal, '')}`;
}

/** Prints what a resume would do. */
export async function printResumePlan(state: RunState, work: PlannedWork, context: Context): Promise<void> {
  const { terminal } = context;
  const { id: run, file } = state.head;
  const { mode, rows, signers, emails, requests } = work;
  const people = work.people.length;
  if (terminal.json)
    await writeJson(
      { dryRun: true, run, file, send: mode !== 'draft', rows, signers, people, emails, requests },
      terminal,
    );
  else {
    const lines: SummaryLines = [...workInWords(work), ...(await accountLine(context))];
    const text = rows === 0 ? `${run}: nothing to do.\n` : `${run}\n${renderPairs(lines, terminal, '  ')}`;
    await terminal.out(`${text}${afterDryRun(work, context)}`);
  }
  await noteRefusal(rows > 0 ? [work.write] : [], context);
}

/** Returns what a new run will do, for people. */
async function newRunText(
  run: NewRun,
  findings: HistoryFindings,
  client: Client,
  context: Context,
): Promise<string> {
  const { list, sent, work, left } = run;
  const { name, rows, source, templates } = list.report;
  const sheet = source.sheet === undefined ? '' : `, sheet "${source.sheet}"`;
  const head = `${safeLine(`${name}${sheet}`)}: ${counted(rows, 'row')}\n`;
  if (work.rows === 0) return `${head}${renderPairs(sentRowsInWords(sent, context), context.terminal, '  ')}`;
  const example = exampleOf(run);
  const notices = noticesAbout(run, findings, context.session.now());
  const lines: SummaryLines = [
    ...workInWords(work, { left, templates: [...templates.keys()] }),
    ...(example?.subject === undefined
      ? []
      : ([['Subject', `${safeLine(example.subject)} (line ${example.line})`]] satisfies SummaryLines)),
    ...sentRowsInWords(sent, context),
    ...notices.map(({ label, text }): SummaryLines[number] => [label, safeLine(text)]),
    timeInWords(work, client, context),
    ...(await accountLine(context)),
  ];
  return `${head}${renderPairs(lines, context.terminal, '  ')}${commandsOf(notices, context.terminal)}`;
}

/** Returns what the account already knows about the people of the rows. */
function noticesAbout(
  { list, rows, request }: NewRun,
  findings: HistoryFindings,
  now: number,
): LabeledNotice[] {
  const templates = [...new Set(rows.map(({ templateId }) => templateId))];
  const [template = ''] = templates;
  const canLeaveOut = request.file !== '-' && templates.length === 1;
  const leaveOut = command('bulk', 'roster', list.report.name, '--template', template, '--missing');
  return noticesOf(findings, { templates, leaveOut: canLeaveOut ? leaveOut : undefined, now });
}

/** Returns the commands of notices, below what they are for. */
function commandsOf(notices: readonly LabeledNotice[], terminal: Terminal): string {
  return notices
    .flatMap(({ next }, index) => {
      if (next === undefined) return [];
      const isSame = notices[index - 1]?.next?.why === next.why;
      const why = isSame ? '' : `  ${indented(`${safeLine(next.why)}:`, 2, terminal)}\n`;
      return [`${why}${renderNextSteps([['', safeLine(next.command)]], terminal)}`];
    })
    .join('');
}

/** Returns the email of the first row, unless it is not sent: another row's email would be misleading. */
function exampleOf({ list, sent }: NewRun): FileReport['example'] {
  const { existing, ended } = sent.known;
  const { example } = list.report;
  return [...existing, ...ended].some(({ row }) => row === 1) ? undefined : example;
}

const MAX_TEMPLATES = 3;

/** Returns what is sent, and to whom. `left`: the number of rows of which these are the first. */
function workInWords(
  work: PlannedWork,
  { left = work.rows, templates = [] }: { left?: number; templates?: readonly string[] } = {},
): SummaryLines {
  const more = templates.length > MAX_TEMPLATES ? ` and ${templates.length - MAX_TEMPLATES} more` : '';
  const from = templates.length === 0 ? '' : `, ${templates.slice(0, MAX_TEMPLATES).join(', ')}${more}`;
  const first = work.rows < left ? `the first ${grouped(work.rows)} of ` : '';
  return [
    [work.mode === 'draft' ? 'Creates' : 'Sends', safeLine(`${first}${rowsInWords(work, left)}${from}`)],
    work.mode === 'draft'
      ? ['For', peopleInWords(work.people)]
      : ['To', `${peopleInWords(work.people)}${turnsInWords(work.emails)}`],
  ];
}

/** Returns how many emails are sent now, and how many when it is the turn of later signers; empty if all are sent now. */
function turnsInWords({ now, later }: PlannedWork['emails']): string {
  return later === 0 ? '' : `; ${counted(now, 'email')} now, ${grouped(later)} later`;
}

/** How many of the people who get several emails are named. */
const MAX_NAMED = 2;

function peopleInWords(people: PlannedWork['people']): string {
  const several = people.filter(({ emails }) => emails > 1).sort((one, other) => other.emails - one.emails);
  const named = several.slice(0, MAX_NAMED).map(({ email, emails }) => `${email} ${grouped(emails)} times`);
  const others = several.length - named.length;
  const more = others > 0 ? [`${grouped(others)} more several times`] : [];
  return safeLine([countedPeople(people.length), ...named, ...more].join(', '));
}

function timeInWords({ requests }: PlannedWork, client: Client, { session }: Context): SummaryLines[number] {
  const window = client.window?.reading();
  if (window === undefined) return ['Uses', counted(requests, 'request')];
  const ms = timeForRequests(requests, window, session.clock.now()) ?? 0;
  return ms === 0
    ? ['Uses', `${grouped(requests)} of the ${grouped(window.free)} requests left in this rate window`]
    : [
        'Takes',
        `at least ${durationInWords(ms)}: ${counted(requests, 'request')}, ${grouped(window.free)} left in this rate window`,
      ];
}

async function accountLine({ session }: Context): Promise<SummaryLines> {
  return [['Account', safeLine(await accountText(session))]];
}
