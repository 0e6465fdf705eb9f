import type { SendRequest } from '../api/http.ts';
import type { PlannedWrite } from '../api/write-gate.ts';
import { EsignError, GuardError } from '../kernel/errors.ts';
import { safeLine } from '../output/text.ts';
import type { Context } from './session/context.ts';
import type { CommandTerminal } from './terminal.ts';

/** The longest time for which envelopes are read to find out whether a guard would refuse, in ms. */
const CHECK_MS = 10_000;

/** Prints the IDs on which the command would act. On a terminal, `details` describes each. */
export async function writeDryRun(
  ids: readonly string[],
  action: string,
  terminal: CommandTerminal,
  details?: (id: string) => string,
): Promise<void> {
  const { json } = terminal;
  for (const id of ids) {
    await (json
      ? terminal.jsonLine({ dryRun: true, action, id })
      : terminal.out(`would ${action} ${details?.(id) ?? safeLine(id)}\n`));
  }
}

/** Prints a notice if a guard would refuse the planned writes of a dry run. */
export async function noteRefusal(planned: readonly PlannedWrite[], context: Context): Promise<void> {
  const refusal = planned.length === 0 ? undefined : await findRefusal(planned, context);
  if (refusal === undefined) return;
  const { code, reason, hint = '' } = refusal;
  context.terminal.notice(`Without --dry-run, this command would be refused (${code}). ${reason} ${hint}`);
}

/** Returns the error with which a guard would refuse the writes, if any. */
async function findRefusal(
  planned: readonly PlannedWrite[],
  { session, interrupt }: Context,
): Promise<GuardError | undefined> {
  // The key isn't needed unless an envelope has to be read.
  const send: SendRequest = async (request) => (await session.client()).send(request);
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), CHECK_MS);
  try {
    const gate = await session.openGate(AbortSignal.any([interrupt.signal, limit.signal]));
    // A dry run records nothing, for no account.
    await gate(send, '').check(planned);
  } catch (error) {
    if (error instanceof GuardError) return error;
    interrupt.signal.throwIfAborted();
    // An envelope can't be read, or not in time. A dry run doesn't fail for that.
    if (!(error instanceof EsignError) && !limit.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
  return undefined;
}
