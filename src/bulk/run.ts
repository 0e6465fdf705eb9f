import { MAX_LIST_LAG_MS } from '../catalog/envelope-list.ts';
import { counted } from '../kernel/duration.ts';
import { UnknownOutcomeError } from '../kernel/errors.ts';
import { identifyMachine } from '../kernel/files/process-identity.ts';
import { findRequests } from '../once/look.ts';
import { type KnownEnvelopes, processRequests } from '../once/process-requests.ts';
import { isWantedRequest, WantedRequests } from '../once/wanted-requests.ts';
import type { RunState } from '../runs/run-state.ts';
import type { OpenRun } from '../runs/runs.ts';
import { rememberedDrafts } from './remembered-rows.ts';
import { RunHost } from './run-host.ts';
import { BulkSession, type RunOptions } from './run-session.ts';
import { wantedRow } from './wanted-row.ts';

/** How the work on a run ended. All but `finished` can be resumed. `paused`: the rows of `--first` are done. */
export type RunEnding =
  | { kind: 'finished' }
  | { kind: 'paused' }
  | { kind: 'interrupted' }
  | { kind: 'stopped'; error: Error };

/**
 * Works on a run until all rows up to `lastBegun` have a result or something stops it. Nobody is emailed until the last of these rows
 * has been accepted as a draft. `first`: what a new run has just found in the list.
 */
export async function processRun(
  run: OpenRun,
  options: RunOptions,
  first?: KnownEnvelopes,
): Promise<RunEnding> {
  const session = new BulkSession(run, options);
  const onAbort = () => session.halt(undefined);
  if (options.signal.aborted) onAbort();
  options.signal.addEventListener('abort', onAbort, { once: true });
  const host = new RunHost(session);
  const startedAt = options.client.clock.now();
  const notBefore = run.resumed && mayHaveOpenRequests(run.state) ? startedAt + MAX_LIST_LAG_MS : 0;
  if (run.resumed && !run.state.areBegunFinished) await run.note({ type: 'resumed', at: startedAt });
  let looks = 0;
  const look = async () => {
    looks++;
    return looks === 1 && first !== undefined ? first : lookForRows(session, host, notBefore);
  };
  let complete = false;
  try {
    await processRequests(host, look);
    complete = true;
  } catch (error) {
    if (!session.signal.aborted) session.handleError(error);
  } finally {
    options.signal.removeEventListener('abort', onAbort);
    session.end();
  }
  if (!complete) {
    await noteStop(run, host);
    return endingOf(session);
  }
  if (run.state.finishedCount < run.state.head.total) {
    await noteStop(run, host);
    return { kind: 'paused' };
  }
  await run.finish(options.client.clock.now());
  return { kind: 'finished' };
}

/**
 * Returns true if an earlier process of a run may have had requests under way: it was killed, lost a response, or ran on another machine or
 * before a restart, of which this state may be an old copy.
 */
export function mayHaveOpenRequests({ stoppedOn }: RunState): boolean {
  return stoppedOn !== identifyMachine();
}

/** Records that no request is under way. If that fails, the next process waits a minute. */
async function noteStop(run: OpenRun, host: RunHost): Promise<void> {
  const lost = host.hasLostResponse;
  await run.note({ type: 'stopped', machine: identifyMachine(), lost }).catch(() => undefined);
}

/** Looks for the envelopes of the rows without a result, in the list and by what this machine remembers. */
async function lookForRows(session: BulkSession, host: RunHost, notBefore: number): Promise<KnownEnvelopes> {
  const { run, options } = session;
  const { client, observer } = options;
  observer.waits?.('looking for what was already created');
  const wanted = new WantedRequests(isWantedRequest);
  for await (const row of run.rows()) if (host.isOpen(row.row)) wanted.add(row.row, wantedRow(row));
  const at = client.clock.now();
  const remembered = rememberedDrafts(run.state);
  const { signal } = session;
  const search = () => findRequests(client, wanted, { remembered, signal });
  const { found, missing } = await session.request(search, { reads: true });
  // The service doesn't know these drafts, so others are created.
  for (const [row, [draft = '']] of remembered) if (missing.includes(draft)) host.released(row);
  observer.waits?.(undefined);
  return { at, found, notBefore };
}

/** Returns how the work ended if rows are left. */
function endingOf({ run, options, stopReason }: BulkSession): RunEnding {
  if (stopReason !== undefined) return { kind: 'stopped', error: stopReason };
  if (options.signal.aborted) return { kind: 'interrupted' };
  const open = run.state.countBegun('pending', 'reserved');
  return {
    kind: 'stopped',
    error: new UnknownOutcomeError(
      `The outcome of ${counted(open, 'row')} is unknown: no response was received.`,
      { hint: '`esign bulk resume` looks for the envelopes first, and sends only what is missing.' },
    ),
  };
}
