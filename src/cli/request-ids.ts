import { type RequestIds, requestIdsIn } from '../envelopes/request-ids.ts';
import { stateDir } from '../kernel/files/paths.ts';
import type { Context } from './context.ts';

/** The request IDs of the account in use, stored in the state folder. */
export async function requestIdsOf(context: Context): Promise<RequestIds> {
  const { account, serviceClock } = await context.client();
  return requestIdsIn(stateDir(), account, {
    clock: context.clock,
    serviceNow: () => serviceClock.now(),
  });
}

/** Shows on a terminal that an envelope is searched for, which takes up to a minute. */
export function showSearch(context: Context): () => () => void {
  return () =>
    context.showWaiting('Searching for the envelope, which takes up to a minute', { atOnce: true });
}
