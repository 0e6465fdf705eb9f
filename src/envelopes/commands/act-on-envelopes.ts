import { READ_CONCURRENCY } from '../../api/limits.ts';
import type { Envelope } from '../../api/schemas.ts';
import { noteRefusal, writeDryRun } from '../../cli/dry-run.ts';
import { canAsk, confirmed } from '../../cli/input/confirm.ts';
import type { Ids, SignersById } from '../../cli/input/ids.ts';
import { hasFlag, rebuildCommand } from '../../cli/rerun.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted } from '../../kernel/duration.ts';
import { EsignError, ServiceError, sentenceOf } from '../../kernel/errors.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import { allOf, mapInOrder } from '../../kernel/streams.ts';
import { nameOf } from '../../kernel/text/person.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { type EnvelopeStatus, hasSigned } from '../../kernel/vocabulary.ts';
import { logFolder } from '../../log/log-folder.ts';
import { readReminders } from '../../log/read-log.ts';
import { inColumns, safeLine, truncate } from '../../output/text.ts';
import type { Context } from '../../session/context.ts';
import { type ActionContext, type EnvelopeAction, type PlannedAction, planAction } from '../plan-writes.ts';
import { REMINDER_GAP } from '../reminder-limits.ts';
import { confirmProblems, type ProblemOptions, rolesReader } from './acting-problems.ts';
import { type BatchAction, forEachId } from './each-envelope.ts';
import { renderDone } from './envelope-text.ts';
import { type FindSkipReasons, type NamingFlags, readNamedOrSelected } from './named-or-selected.ts';

export interface ActCommand {
  words: readonly string[];
  flags: NamingFlags & { yes: boolean; 'dry-run': boolean };
  /** The envelopes of a run that are left out, and the statuses that `--all` means. */
  selection: { leaveOut: FindSkipReasons; all?: readonly EnvelopeStatus[] };
  /** `signers`: those that stdin names for an envelope. */
  actionOf: (means: ActionContext, signers: SignersById) => EnvelopeAction;
  /** How to confirm the problems of a single envelope. */
  confirming: Omit<ProblemOptions, 'asks'>;
  /** Whether a dry run finds problems, too. */
  checksDryRun?: boolean;
  /** Done after the confirmation and before the first envelope; also for an empty selection. */
  before?: (context: Context) => Promise<void>;
}

/** Sends, cancels, or reminds the envelopes that a command names or selects, after checks and a confirmation. */
export async function act(command: ActCommand, context: Context): Promise<void> {
  const { words, flags, selection, actionOf, confirming } = command;
  const { ids, selected } = await readNamedOrSelected(words, flags, selection, context);
  // A notice has already reported an empty selection.
  if (selected !== undefined && ids.ids.length === 0) return doBefore(command, context);
  const means = await actionContext(context);
  const { client } = means;
  const action = actionOf(means, ids.signers ?? new Map());
  const check = async (id: string, asks: ProblemOptions['asks']) => {
    const problems = await action.findProblems(id, () => readIfAllowed(id, means));
    await confirmProblems(problems, { ...confirming, asks, id, fromStdin: ids.fromStdin }, context);
  };
  const writes = ids.ids.flatMap(action.writesFor);
  const planAll = async () => {
    const plan = (id: string) => planAction(action, id, means, selected);
    return allOf(mapInOrder(ids.ids, READ_CONCURRENCY, plan));
  };
  if (flags['dry-run']) {
    const checkLater = (id: string) => check(id, 'later');
    await showDryRun(ids, action, { planAll, check: checkLater, isChecked: command.checksDryRun }, context);
    return noteRefusal(writes, context);
  }
  const clearance = await client.checkWrites(writes);
  const isPreviewed = ids.ids.length > 1 && !flags.yes && !clearance.isConfirmed;
  // Nothing is read for a question that can't be asked.
  if (isPreviewed && selected === undefined && !canAsk(context.terminal, ids.fromStdin))
    await confirmCount(action, ids.ids.length, ids.fromStdin, context);
  const chosen = isPreviewed ? await confirmBatch(ids, action, await planAll(), context) : ids;
  const asks = !flags.yes && !context.terminal.json && canAsk(context.terminal, ids.fromStdin);
  const only = singleOf(ids, asks);
  if (only !== undefined) await check(only, asks);
  await clearance.confirm();
  await doBefore(command, context);
  const isChecked = isPreviewed || only !== undefined;
  await action.run((execute) =>
    forEachId(
      {
        ids: chosen,
        act: async (id) => {
          if (!isChecked) await check(id, false);
          return execute(id);
        },
        show: ({ envelope, signers }) => renderDone(action.done, envelope, signers, context.terminal),
        action: batchAction(action, ids, context.session.words),
      },
      context,
    ),
  );
}

async function doBefore({ flags, before }: ActCommand, context: Context): Promise<void> {
  if (!flags['dry-run']) await before?.(context);
}

/** Returns the only envelope, whose problems are confirmed before anything is done. In a stream, its row shows them instead. */
function singleOf({ ids, stream }: Ids, asks: boolean): string | undefined {
  return ids.length === 1 && (asks || !stream) ? ids[0] : undefined;
}

type CheckOne = (id: string) => Promise<void>;

/** Checks each envelope of a dry run. Throws the error of a single one, and prints those of several. */
async function checkEach({ ids, stream }: Ids, check: CheckOne, { terminal }: Context): Promise<void> {
  for (const id of ids)
    await check(id).catch((error: unknown) => {
      if (!stream || !(error instanceof EsignError)) throw error;
      terminal.notice(`${id}: ${sentenceOf(error)}`);
    });
}

/** Returns undefined if the key can't read envelopes. */
async function readIfAllowed(id: string, { client, signal }: ActionContext): Promise<Envelope | undefined> {
  try {
    return await client.envelopes.get(id, signal);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'FORBIDDEN') return undefined;
    throw error;
  }
}

/** The verb of the question `Cancel 3 envelopes?`. */
const QUESTIONS = { send: 'Send', cancel: 'Cancel', remind: 'Send reminders for' } as const;

/** The most rows to show above the question. */
const MAX_ROWS = 20;

/**
 * Shows the envelopes, leaves out those for which the action isn't possible, and asks for confirmation.
 * @throws UsageError if the answer is no; ServiceError INVALID_STATE if the action is possible for none.
 */
async function confirmBatch(
  { ids, fromStdin }: Ids,
  action: EnvelopeAction,
  items: readonly PlannedAction[],
  context: Context,
): Promise<Ids> {
  const possible = items.filter(({ refusal }) => refusal === undefined);
  const kept = possible.filter(({ skip }) => skip === undefined);
  // With --json, stderr is for the error alone.
  if (!context.terminal.json) show(items, context);
  if (possible.length === 0)
    throw new ServiceError('INVALID_STATE', `None of the ${ids.length} can be ${action.done}.`, {
      status: 400,
      hint: 'The reasons are shown above.',
    });
  if (kept.length > 0) await confirmCount(action, kept.length, fromStdin, context);
  // A skipped one is reported like the others.
  return { ids: possible.map(({ id }) => id), stream: true, fromStdin };
}

function confirmCount(
  { name }: EnvelopeAction,
  count: number,
  fromStdin: boolean,
  context: Context,
): Promise<void> {
  const question = `${QUESTIONS[name]} ${counted(count, 'envelope')}?`;
  return confirmed(question, { yes: false, otherwise: 'nothing was sent or changed', fromStdin }, context);
}

/** Shows what would be done. In a pipe and with --json, prints the IDs, without a request unless some may be skipped. */
async function showDryRun(
  named: Ids,
  { name, findSkip }: EnvelopeAction,
  {
    planAll,
    check,
    isChecked,
  }: { planAll: () => Promise<PlannedAction[]>; check: CheckOne; isChecked: boolean | undefined },
  context: Context,
): Promise<void> {
  if (isChecked) await checkEach(named, check, context);
  const { terminal } = context;
  const { ids } = named;
  const isPlain = !terminal.outIsTty || terminal.json;
  if (isPlain && findSkip === undefined) return writeDryRun(ids, name, terminal);
  const items = await planAll();
  if (isPlain) {
    const skipped = items.filter(({ skip }) => skip !== undefined).map(({ id }) => id);
    const left = ids.filter((id) => !skipped.includes(id));
    await writeDryRun(left, name, terminal);
    return terminal.json
      ? undefined
      : showLeftOut(
          items.filter(({ skip }) => skip !== undefined),
          context,
        );
  }
  showLeftOut(items, context);
  const kept = items.filter(isDone);
  const lines = inColumns(kept.map((one) => cellsOf(one, context)));
  const room = context.terminal.columns - `would ${name} `.length;
  const details = new Map(kept.map(({ id }, index) => [id, truncate(lines[index] ?? id, room)]));
  return writeDryRun([...details.keys()], name, context.terminal, (id) => details.get(id) ?? id);
}

/** Returns true if the action will be executed for the envelope. */
function isDone({ refusal, skip }: PlannedAction): boolean {
  return refusal === undefined && skip === undefined;
}

function show(items: readonly PlannedAction[], context: Context): void {
  const kept = items.filter(isDone);
  const lines = [
    ...inColumns(kept.slice(0, MAX_ROWS).map((one) => cellsOf(one, context))).map((line) => `  ${line}`),
    ...more(kept),
    ...kept.flatMap(({ id, problems }) =>
      problems.map(({ text }) => `! ${safeLine(id)}: ${hidden(text, context)}`),
    ),
  ];
  writeLines(lines, context.terminal);
  showLeftOut(items, context);
}

function showLeftOut(items: readonly PlannedAction[], context: Context): void {
  const left = items.filter((one) => !isDone(one));
  const lines = left.slice(0, MAX_ROWS).map((one) => {
    const what = cellsOf(one, context).join('  ').trimEnd();
    return `Skipped ${what}: ${hidden(reasonOf(one), context)}.`;
  });
  writeLines([...lines, ...more(left)], context.terminal);
}

function reasonOf({ envelope, refusal, skip }: PlannedAction): string {
  if (skip !== undefined) return sentenceOf(skip).replace(/\.$/, '');
  if (envelope !== undefined) return `it is ${envelope.status ?? ''}`;
  return refusal === undefined ? '' : sentenceOf(refusal).replace(/\.$/, '');
}

function writeLines(lines: readonly string[], terminal: CommandTerminal): void {
  const columns = process.stderr.columns || 80;
  terminal.err(lines.map((line) => `${truncate(line, columns - 1)}\n`).join(''));
}

/** Redacts a text before it is truncated, because a part of a secret would not be recognized. */
function hidden(text: string, { terminal: { redactor } }: Context): string {
  return safeLine(redactor.redact(text));
}

function cellsOf({ id, envelope }: PlannedAction, context: Context): string[] {
  const waiting = (envelope?.signers ?? []).filter((one) => !hasSigned(one)).map(nameOf);
  const [first = '', ...others] = waiting;
  const whom = others.length > 1 ? `${first} +${others.length}` : waiting.join(' and ');
  const texts = [id, envelope?.subject || envelope?.templateName || '', whom && `for ${whom}`];
  return texts.map((text) => hidden(text, context));
}

function more(all: readonly unknown[]): string[] {
  return all.length > MAX_ROWS ? [`  … and ${all.length - MAX_ROWS} more`] : [];
}

/** The most IDs to show in a command that is meant to be copied. */
const MAX_IDS = 20;

export async function actionContext(context: Context): Promise<ActionContext> {
  const { session, interrupt } = context;
  return {
    client: await session.client(),
    signal: interrupt.signal,
    rolesOf: rolesReader(context),
    memory: await session.memory(),
    readReminders: async () => readReminders(logFolder(stateDir()), await session.baseUrl()),
  };
}

/**
 * Returns the texts for several envelopes. The service refuses a second send or cancel, so the same command is safe to run again.
 * It doesn't return reminders, but the local log contains those that may have been sent.
 */
function batchAction({ name, done }: EnvelopeAction, ids: Ids, words: readonly string[]): BatchAction {
  const reminds = name === 'remind';
  const add = reminds && !hasFlag(words, '--min-gap') ? ['--min-gap', REMINDER_GAP] : [];
  const again = (left: readonly string[]) => {
    if (left.length > MAX_IDS) return rebuildCommand(words, { add });
    const yes = left.length > 1 && !hasFlag(words, '--yes') && !hasFlag(words, '-y') ? ['--yes'] : [];
    return rebuildCommand(words, { own: [...ids.ids, '-'], ids: left, add: [...add, ...yes] });
  };
  return {
    done,
    ifUnknown: (id) =>
      reminds
        ? `To skip signers who may already have been reminded, run \`${again([id])}\`.`
        : `To see its status, run \`${command('envelopes', 'get', id)}\`. It is safe to run \`${again([id])}\` again, because an envelope can't be ${done} twice.`,
    again,
  };
}
