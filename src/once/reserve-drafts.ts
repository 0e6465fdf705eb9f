import { isAmbiguous } from '../kernel/request-failures.ts';
import { forEachOf } from '../kernel/streams.ts';
import type { OpenRequest, RequestHost } from './request-host.ts';
import { contentIdOf } from './request-identity.ts';
import type { ReadingStart } from './settle.ts';

/** How often a draft is created again after a lost response. The lost ones email nobody, and are canceled at the end. */
const MAX_TRIES = 4;
const PAUSE_MS = 500;

/** Creates a draft for each open request without one. The drafts email nobody, so a lost response only means another one. */
export function reserveDrafts(host: RequestHost, start: ReadingStart): Promise<void> {
  return forEachOf(host.open(), host.parallel, async (request) => {
    if (host.draftOf(request.number) === undefined) await reserveDraft(host, request, start);
  });
}

/** @throws if the responses are lost again and again. */
async function reserveDraft(
  host: RequestHost,
  { number, body }: OpenRequest,
  start: ReadingStart,
): Promise<void> {
  const { client, signal } = host;
  const logged = { content: contentIdOf(body) };
  for (let tries = 1; ; tries++) {
    try {
      const envelope = await host.ask((running) => client.envelopes.create(body, running, logged), {
        begins: true,
      });
      start.add(envelope, true);
      return await host.reserved(number, envelope, true);
    } catch (error) {
      if (!isAmbiguous(error)) {
        return host.finished(number, { kind: 'failed', error: host.requireOwnError(error) });
      }
      host.lostResponse();
      if (tries === MAX_TRIES) throw error;
      await client.clock.sleep(PAUSE_MS * tries, signal);
    }
  }
}
