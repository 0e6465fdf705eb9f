import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/schemas.ts';
import type { Context } from '../../cli/context.ts';
import { writeDryRun } from '../../cli/dry-run.ts';
import { confirmed } from '../../cli/input/confirm.ts';
import type { Ids } from '../../cli/input/ids.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted } from '../../kernel/duration.ts';
import { isNotFound, ServiceError, sentenceOf } from '../../kernel/errors.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { inColumns, safeLine, truncate } from '../../output/text.ts';
import { NO_IDS } from './each.ts';
import { nameOf } from './list/view.ts';

/** An action on several envelopes. */
export interface BatchPreview {
  /** The verb of a dry run, such as `cancel`. */
  action: string;
  /** The verb of the question `Cancel 3 envelopes?`. */
  question: string;
  /** `cancelled` */
  verb: string;
  /** Returns whether the action is possible in this status. */
  can: (status: string) => boolean;
  /** Returns warnings about an envelope. */
  warnings?: (envelope: Envelope) => Promise<string[]>;
  /** Envelopes that were just read, by ID. */
  known?: ReadonlyMap<string, Envelope> | undefined;
}

const CONCURRENCY = 8;
/** The most rows to show above the question. */
const MAX_ROWS = 20;

interface PreviewItem {
  id: string;
  envelope: Envelope | undefined;
  /** The reason for leaving it out. */
  why: string | undefined;
  warnings: string[];
}

/**
 * Shows the envelopes, leaves out those for which the action isn't possible, and asks for confirmation.
 * @throws UsageError if the answer is no; ServiceError INVALID_STATE if the action is possible for none.
 */
export async function confirmBatch(
  ids: Ids,
  batch: BatchPreview,
  client: Client,
  context: Context,
): Promise<Ids> {
  const items = await previewEach(ids.ids, batch, client, context);
  const kept = items.filter(({ why }) => why === undefined);
  // With --json, stderr is for the error alone.
  if (!context.terminal.json) show(items, context);
  if (kept.length === 0)
    throw new ServiceError('INVALID_STATE', `None of the ${ids.ids.length} can be ${batch.verb}.`, {
      status: 400,
      hint: 'The reasons are shown above.',
    });
  const question = `${batch.question} ${counted(kept.length, 'envelope')}?`;
  const { fromStdin } = ids;
  await confirmed(question, { yes: false, otherwise: 'nothing was sent or changed', fromStdin }, context);
  return { ids: kept.map(({ id }) => id), stream: true, fromStdin };
}

/** Shows what would be done. In a pipe and with --json, prints the IDs without a request. */
export async function showDryRun(
  { ids }: Ids,
  batch: BatchPreview,
  client: Client,
  context: Context,
): Promise<void> {
  if (ids.length === 0) context.terminal.notice(NO_IDS);
  if (!context.terminal.outIsTty || context.terminal.json)
    return writeDryRun(ids, batch.action, context.terminal);
  const items = await previewEach(ids, batch, client, context);
  showLeftOut(items, context);
  const kept = items.filter(({ why }) => why === undefined);
  const lines = inColumns(kept.map((one) => hiddenCells(one, context)));
  const room = context.terminal.columns - `would ${batch.action} `.length;
  const details = new Map(kept.map(({ id }, index) => [id, truncate(lines[index] ?? id, room)]));
  return writeDryRun([...details.keys()], batch.action, context.terminal, (id) => details.get(id) ?? id);
}

async function previewEach(
  ids: readonly string[],
  batch: BatchPreview,
  client: Client,
  context: Context,
): Promise<PreviewItem[]> {
  const items: PreviewItem[] = [];
  for await (const one of mapInOrder(ids, CONCURRENCY, (id) => preview(id, batch, client, context)))
    items.push(one);
  return items;
}

async function preview(
  id: string,
  batch: BatchPreview,
  client: Client,
  { interrupt: { signal } }: Context,
): Promise<PreviewItem> {
  try {
    const envelope = batch.known?.get(id) ?? (await client.envelopes.get(id, signal));
    const status = envelope.status ?? '';
    const why = batch.can(status) ? undefined : `it is ${status}`;
    const warnings = why === undefined ? await batch.warnings?.(envelope) : undefined;
    return { id, envelope, why, warnings: warnings ?? [] };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return { id, envelope: undefined, why: sentenceOf(error).replace(/\.$/, ''), warnings: [] };
  }
}

function show(items: readonly PreviewItem[], context: Context): void {
  const kept = items.filter(({ why }) => why === undefined);
  const lines = [
    ...inColumns(kept.slice(0, MAX_ROWS).map((one) => hiddenCells(one, context))).map((line) => `  ${line}`),
    ...more(kept),
    ...kept.flatMap(({ id, warnings }) =>
      warnings.map((text) => `! ${safeLine(id)}: ${hidden(text, context)}`),
    ),
  ];
  writeLines(lines, context.terminal);
  showLeftOut(items, context);
}

function showLeftOut(items: readonly PreviewItem[], context: Context): void {
  const left = items.filter(({ why }) => why !== undefined);
  const lines = left.slice(0, MAX_ROWS).map((one) => {
    const what = hiddenCells(one, context).join('  ').trimEnd();
    return `Left out: ${what}: ${hidden(one.why ?? '', context)}.`;
  });
  writeLines([...lines, ...more(left)], context.terminal);
}

function writeLines(lines: readonly string[], terminal: CommandTerminal): void {
  const columns = process.stderr.columns || 80;
  terminal.err(lines.map((line) => `${truncate(line, columns - 1)}\n`).join(''));
}

/** Redacts a text before it is truncated, because a part of a secret would not be recognized. */
function hidden(text: string, { terminal: { redactor } }: Context): string {
  return safeLine(redactor.redact(text));
}

function hiddenCells(one: PreviewItem, context: Context): string[] {
  return cellsOf(one).map((text) => hidden(text, context));
}

function cellsOf({ id, envelope }: PreviewItem): string[] {
  const waiting = (envelope?.signers ?? []).filter((one) => one.status !== 'SIGNED').map(nameOf);
  const [first = '', ...others] = waiting;
  const whom = others.length > 1 ? `${first} +${others.length}` : waiting.join(' and ');
  return [id, envelope?.subject || envelope?.templateName || '', whom && `for ${whom}`];
}

function more(all: readonly unknown[]): string[] {
  return all.length > MAX_ROWS ? [`  … and ${all.length - MAX_ROWS} more`] : [];
}
