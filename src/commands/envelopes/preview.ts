import { READ_CONCURRENCY } from '../../api/defaults.ts';
import type { Envelope } from '../../api/schemas.ts';
import type { Context } from '../../cli/context.ts';
import { writeDryRun } from '../../cli/dry-run.ts';
import { canAsk, confirmed } from '../../cli/input/confirm.ts';
import type { Ids } from '../../cli/input/ids.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import type { EnvelopeAction, PlannedAction } from '../../envelopes/plan.ts';
import { counted } from '../../kernel/duration.ts';
import { ServiceError, sentenceOf } from '../../kernel/errors.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { inColumns, safeLine, truncate } from '../../output/text.ts';
import { NO_IDS } from './each.ts';
import { nameOf } from './list/view.ts';

/** An action on several envelopes. */
export interface BatchPreview {
  action: EnvelopeAction;
  /** The selected envelopes; undefined for IDs. */
  known: ReadonlyMap<string, Envelope> | undefined;
  plan: (id: string) => Promise<PlannedAction>;
}

/** The verb of the question `Cancel 3 envelopes?`. */
const QUESTIONS = { send: 'Send', cancel: 'Cancel', remind: 'Send reminders for' } as const;

/** The most rows to show above the question. */
const MAX_ROWS = 20;

/**
 * Shows the envelopes, leaves out those for which the action isn't possible, and asks for confirmation.
 * @throws UsageError if the answer is no; ServiceError INVALID_STATE if the action is possible for none.
 */
export async function confirmBatch(
  { ids, fromStdin }: Ids,
  { action, known, plan }: BatchPreview,
  context: Context,
): Promise<Ids> {
  const ask = (count: number) => {
    const question = `${QUESTIONS[action.name]} ${counted(count, 'envelope')}?`;
    return confirmed(question, { yes: false, otherwise: 'nothing was sent or changed', fromStdin }, context);
  };
  // Nothing is read for a question that can't be asked.
  if (known === undefined && !canAsk(context.terminal, fromStdin)) await ask(ids.length);
  const items = await planEach(ids, plan);
  const kept = items.filter(({ refusal }) => refusal === undefined);
  // With --json, stderr is for the error alone.
  if (!context.terminal.json) show(items, context);
  if (kept.length === 0)
    throw new ServiceError('INVALID_STATE', `None of the ${ids.length} can be ${action.done}.`, {
      status: 400,
      hint: 'The reasons are shown above.',
    });
  await ask(kept.length);
  return { ids: kept.map(({ id }) => id), stream: true, fromStdin };
}

/** Shows what would be done. In a pipe and with --json, prints the IDs without a request. */
export async function showDryRun(
  { ids }: Ids,
  { action: { name }, plan }: BatchPreview,
  context: Context,
): Promise<void> {
  if (ids.length === 0) context.terminal.notice(NO_IDS);
  if (!context.terminal.outIsTty || context.terminal.json) return writeDryRun(ids, name, context.terminal);
  const items = await planEach(ids, plan);
  showLeftOut(items, context);
  const kept = items.filter(({ refusal }) => refusal === undefined);
  const lines = inColumns(kept.map((one) => hiddenCells(one, context)));
  const room = context.terminal.columns - `would ${name} `.length;
  const details = new Map(kept.map(({ id }, index) => [id, truncate(lines[index] ?? id, room)]));
  return writeDryRun([...details.keys()], name, context.terminal, (id) => details.get(id) ?? id);
}

async function planEach(ids: readonly string[], plan: BatchPreview['plan']): Promise<PlannedAction[]> {
  const items: PlannedAction[] = [];
  for await (const one of mapInOrder(ids, READ_CONCURRENCY, plan)) items.push(one);
  return items;
}

function show(items: readonly PlannedAction[], context: Context): void {
  const kept = items.filter(({ refusal }) => refusal === undefined);
  const lines = [
    ...inColumns(kept.slice(0, MAX_ROWS).map((one) => hiddenCells(one, context))).map((line) => `  ${line}`),
    ...more(kept),
    ...kept.flatMap(({ id, problems }) =>
      problems.map(({ text }) => `! ${safeLine(id)}: ${hidden(text, context)}`),
    ),
  ];
  writeLines(lines, context.terminal);
  showLeftOut(items, context);
}

function showLeftOut(items: readonly PlannedAction[], context: Context): void {
  const left = items.filter(({ refusal }) => refusal !== undefined);
  const lines = left.slice(0, MAX_ROWS).map((one) => {
    const what = hiddenCells(one, context).join('  ').trimEnd();
    return `Skipped ${what}: ${hidden(reasonOf(one), context)}.`;
  });
  writeLines([...lines, ...more(left)], context.terminal);
}

function reasonOf({ envelope, refusal }: PlannedAction): string {
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

function hiddenCells(one: PlannedAction, context: Context): string[] {
  return cellsOf(one).map((text) => hidden(text, context));
}

function cellsOf({ id, envelope }: PlannedAction): string[] {
  const waiting = (envelope?.signers ?? []).filter((one) => one.status !== 'SIGNED').map(nameOf);
  const [first = '', ...others] = waiting;
  const whom = others.length > 1 ? `${first} +${others.length}` : waiting.join(' and ');
  return [id, envelope?.subject || envelope?.templateName || '', whom && `for ${whom}`];
}

function more(all: readonly unknown[]): string[] {
  return all.length > MAX_ROWS ? [`  … and ${all.length - MAX_ROWS} more`] : [];
}
