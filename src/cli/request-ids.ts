import { type RequestIds, requestIdsIn } from '../envelopes/request-ids.ts';
import { stateDir } from '../kernel/files/paths.ts';
import type { Session } from './session.ts';
import type { CommandTerminal } from './terminal.ts';

/** The request IDs of the account in use, stored in the state folder. */
export async function requestIdsOf(session: Session): Promise<RequestIds> {
  const { account, serviceClock } = await session.client();
  return requestIdsIn(stateDir(), account, {
    clock: session.clock,
    serviceNow: () => serviceClock.now(),
  });
}

/** Shows on a terminal that an envelope is searched for, which takes up to a minute. */
export function showSearch(terminal: CommandTerminal): () => () => void {
  return () =>
    terminal.showWaiting('Searching for the envelope, which takes up to a minute', { atOnce: true });
}
