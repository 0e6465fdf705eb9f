import { type RequestIds, requestIdsIn } from '../envelopes/request-ids/request-ids.ts';
import { stateDir } from '../kernel/files/paths.ts';
import type { Session } from './session.ts';
import type { CommandTerminal } from './terminal.ts';

/** Returns the request IDs of the current account, stored in the state folder. */
export async function requestIdsOf(session: Session): Promise<RequestIds> {
  const { account, serviceClock } = await session.client();
  return requestIdsIn(stateDir(), account, {
    clock: session.clock,
    serviceNow: () => serviceClock.now(),
  });
}

/** Shows on a terminal that the envelope is being searched for. */
export function showSearch(terminal: CommandTerminal): () => () => void {
  return () => terminal.showWaiting('Searching for the envelope (up to a minute)', { immediately: true });
}
