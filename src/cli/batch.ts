import type { Envelope } from '../api/schemas.ts';
import { counted } from '../kernel/duration.ts';
import { PartialError } from '../kernel/errors.ts';
import { mapInOrder } from '../kernel/streams.ts';
import { writeJson, writeJsonLine } from '../output/json.ts';
import { safeLine } from '../output/text.ts';
import type { Context } from './context.ts';
import { confirmed } from './input/confirm.ts';
import type { Ids } from './input/ids.ts';
import { errorText, reportOf } from './report.ts';

const CONCURRENCY = 8;

export interface EachOptions {
  ids: Ids;
  /** `by` tells whether the reply said so or, after a lost reply, the envelope's state. */
  act: (id: string) => Promise<{ envelope: Envelope; by?: 'reply' | 'lookup' }>;
  /** What a person sees of one result. */
  show: (envelope: Envelope) => string;
}

/**
 * Does one thing to each id. One id: the result, or its error. Several: all are tried, each is a row or a
 * JSON line in the order given, and some failures end in exit code 10.
 */
export async function forEachId(options: EachOptions, context: Context): Promise<void> {
  const { ids, act, show } = options;
  const { terminal, json } = context;
  const [only] = ids.ids;
  if (!ids.stream && only !== undefined) {
    const { envelope, by } = await act(only);
    explain(envelope, by, context);
    return json ? writeJson(envelope, terminal) : terminal.out(show(envelope));
  }
  let failed = 0;
  for await (const { result, by } of mapInOrder(ids.ids, CONCURRENCY, (id) =>
    attempt(id, act, context.signal),
  )) {
    if (!result.ok) failed++;
    else explain(result.envelope, by, context);
    await writeResult(result, show, context);
  }
  if (failed > 0) throw new PartialError(`${failed} of ${ids.ids.length} failed; each is reported above.`);
}

type Result = { id: string; ok: true; envelope: Envelope } | { id: string; ok: false; error: unknown };

interface Attempt {
  result: Result;
  by: 'reply' | 'lookup' | undefined;
}

async function attempt(id: string, act: EachOptions['act'], signal: AbortSignal): Promise<Attempt> {
  try {
    const { envelope, by } = await act(id);
    return { result: { id, ok: true, envelope }, by };
  } catch (error) {
    if (signal.aborted) throw error;
    return { result: { id, ok: false, error }, by: undefined };
  }
}

function explain(envelope: Envelope, by: Attempt['by'], context: Context): void {
  if (by !== 'lookup') return;
  context.notice(
    `The reply for ${envelope.id} was lost, but it was done: it is ${envelope.status ?? 'changed'}.`,
  );
}

async function writeResult(result: Result, show: EachOptions['show'], context: Context): Promise<void> {
  const { terminal, json, redactor } = context;
  if (result.ok) return json ? writeJsonLine(result, terminal) : terminal.out(show(result.envelope));
  if (json) return writeJsonLine({ ...result, error: reportOf(result.error) }, context.hidingSecrets());
  terminal.err(
    `${safeLine(result.id)}: ${errorText(result.error, { json: false, redactor, style: terminal.styleErr })}`,
  );
}

/**
 * Asks before more than one envelope is mailed or cancelled.
 * @throws UsageError where it cannot ask and --yes is not given, before anything was sent.
 */
export async function confirmMany(
  count: number,
  action: string,
  options: { yes: boolean },
  context: Context,
): Promise<void> {
  if (count <= 1 || options.yes) return;
  const question = `${action} ${counted(count, 'envelope')}?`;
  await confirmed(question, { yes: false, otherwise: 'nothing was sent or changed' }, context);
}

/** What --dry-run says: the ids that would be acted on, and nothing else happens. */
export async function writeDryRun(ids: Ids, action: string, context: Context): Promise<void> {
  const { terminal, json } = context;
  for (const id of ids.ids) {
    await (json
      ? writeJsonLine({ dryRun: true, action, id }, terminal)
      : terminal.out(`would ${action} ${safeLine(id)}\n`));
  }
}
