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

/** What is done to several envelopes at once. */
export interface Several {
  /** As --dry-run names it: `cancel`. */
  action: string;
  /** `Cancel`, of which `Cancel 3 envelopes?` is made. */
  question: string;
  /** `cancelled` */
  verb: string;
  /** Whether it can be done to an envelope in this status. */
  can: (status: string) => boolean;
  /** What else there is to be said of one. */
  remarks?: (envelope: Envelope) => Promise<string[]>;
  /** Envelopes that were read a moment ago, by ID. */
  known?: ReadonlyMap<string, Envelope> | undefined;
}

const CONCURRENCY = 8;
/** More rows would hide the question. */
const SHOWN = 20;

interface Seen {
  id: string;
  envelope: Envelope | undefined;
  /** Why it is left out. */
  why: string | undefined;
  remarks: string[];
}

/**
 * Shows which envelopes it is about, leaves out those it can't be done to, and asks.
 * @throws UsageError when the answer is no; ServiceError INVALID_STATE when it can be done to none.
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
      hint: 'The reason is shown above for each.',
    });
  const question = `${several.question} ${counted(kept.length, 'envelope')}?`;
  const { fromStdin } = ids;
  await confirmed(question, { yes: false, otherwise: 'nothing was sent or changed', fromStdin }, context);
  return { ids: kept.map(({ id }) => id), stream: true, fromStdin };
}

/** Shows what would be done to which envelopes. In a pipe and with --json: the ids, without a request. */
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
    const remarks = why === undefined ? await several.remarks?.(envelope) : undefined;
    return { id, envelope, why, remarks: remarks ?? [] };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return { id, envelope: undefined, why: sentenceOf(error).replace(/\.$/, ''), remarks: [] };
  }
}

function show(seen: readonly Seen[], context: Context): void {
  const kept = seen.filter(({ why }) => why === undefined);
  const lines = [
    ...inColumns(kept.slice(0, SHOWN).map((one) => hiddenCells(one, context))).map((line) => `  ${line}`),
    ...more(kept),
    ...kept.flatMap(({ id, remarks }) =>
      remarks.map((text) => `! ${safeLine(id)}: ${hidden(text, context)}`),
    ),
  ];
  writeLines(lines, context.terminal);
  showLeftOut(seen, context);
}

function showLeftOut(seen: readonly Seen[], context: Context): void {
  const left = seen.filter(({ why }) => why !== undefined);
  const lines = left.slice(0, SHOWN).map((one) => {
    const what = hiddenCells(one, context).join('  ').trimEnd();
    return `Left out: ${what}: ${hidden(one.why ?? '', context)}.`;
  });
  writeLines([...lines, ...more(left)], context.terminal);
}

function writeLines(lines: readonly string[], terminal: CommandTerminal): void {
  const columns = process.stderr.columns || 80;
  terminal.err(lines.map((line) => `${truncate(line, columns - 1)}\n`).join(''));
}

/** Redacted before anything is cut: a part of a secret would not be recognized. */
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
  return all.length > SHOWN ? [`  … and ${all.length - SHOWN} more`] : [];
}
