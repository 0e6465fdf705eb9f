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
export interface Several {
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

interface Seen {
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
export async function confirmSeveral(
  ids: Ids,
  several: Several,
  client: Client,
  context: Context,
): Promise<Ids> {
  const seen = await lookAtEach(ids.ids, several, client, context);
  const kept = seen.filter(({ why }) => why === undefined);
  // With --json, stderr is for the error alone.
  if (!context.terminal.json) show(seen, context);
  if (kept.length === 0)
    throw new ServiceError('INVALID_STATE', `None of the ${ids.ids.length} can be ${several.verb}.`, {
      status: 400,
      hint: 'The reasons are shown above.',
    });
  const question = `${several.question} ${counted(kept.length, 'envelope')}?`;
  const { fromStdin } = ids;
  await confirmed(question, { yes: false, otherwise: 'nothing was sent or changed', fromStdin }, context);
  return { ids: kept.map(({ id }) => id), stream: true, fromStdin };
}

/** Shows what would be done. In a pipe and with --json, prints the IDs without a request. */
export async function showDryRun(
  { ids }: Ids,
  several: Several,
  client: Client,
  context: Context,
): Promise<void> {
  if (ids.length === 0) context.terminal.notice(NO_IDS);
  if (!context.terminal.outIsTty || context.terminal.json)
    return writeDryRun(ids, several.action, context.terminal);
  const seen = await lookAtEach(ids, several, client, context);
  showLeftOut(seen, context);
  const kept = seen.filter(({ why }) => why === undefined);
  const lines = inColumns(kept.map((one) => hiddenCells(one, context)));
  const room = context.terminal.columns - `would ${several.action} `.length;
  const details = new Map(kept.map(({ id }, index) => [id, truncate(lines[index] ?? id, room)]));
  return writeDryRun([...details.keys()], several.action, context.terminal, (id) => details.get(id) ?? id);
}

async function lookAtEach(
  ids: readonly string[],
  several: Several,
  client: Client,
  context: Context,
): Promise<Seen[]> {
  const seen: Seen[] = [];
  for await (const one of mapInOrder(ids, CONCURRENCY, (id) => lookAt(id, several, client, context)))
    seen.push(one);
  return seen;
}

async function lookAt(
  id: string,
  several: Several,
  client: Client,
  { interrupt: { signal } }: Context,
): Promise<Seen> {
  try {
    const envelope = several.known?.get(id) ?? (await client.envelopes.get(id, signal));
    const status = envelope.status ?? '';
    const why = several.can(status) ? undefined : `it is ${status}`;
    const warnings = why === undefined ? await several.warnings?.(envelope) : undefined;
    return { id, envelope, why, warnings: warnings ?? [] };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return { id, envelope: undefined, why: sentenceOf(error).replace(/\.$/, ''), warnings: [] };
  }
}

function show(seen: readonly Seen[], context: Context): void {
  const kept = seen.filter(({ why }) => why === undefined);
  const lines = [
    ...inColumns(kept.slice(0, MAX_ROWS).map((one) => hiddenCells(one, context))).map((line) => `  ${line}`),
    ...more(kept),
    ...kept.flatMap(({ id, warnings }) =>
      warnings.map((text) => `! ${safeLine(id)}: ${hidden(text, context)}`),
    ),
  ];
  writeLines(lines, context.terminal);
  showLeftOut(seen, context);
}

function showLeftOut(seen: readonly Seen[], context: Context): void {
  const left = seen.filter(({ why }) => why !== undefined);
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

function hiddenCells(one: Seen, context: Context): string[] {
  return cellsOf(one).map((text) => hidden(text, context));
}

function cellsOf({ id, envelope }: Seen): string[] {
  const waiting = (envelope?.signers ?? []).filter((one) => one.status !== 'SIGNED').map(nameOf);
  const [first = '', ...others] = waiting;
  const whom = others.length > 1 ? `${first} +${others.length}` : waiting.join(' and ');
  return [id, envelope?.subject || envelope?.templateName || '', whom && `for ${whom}`];
}

function more(all: readonly unknown[]): string[] {
  return all.length > MAX_ROWS ? [`  … and ${all.length - MAX_ROWS} more`] : [];
}
