import type { CreateEnvelopeBody } from '../../../api/resources.ts';
import { withOutcomeCheck } from '../../../cli/outcome-check.ts';
import type { Context } from '../../../cli/session/context.ts';
import { createOnce } from '../../../once/create-envelope.ts';
import { createNow } from '../../../once/create-now.ts';
import type { CreateOptions, CreateResult } from '../../../once/created.ts';
import { provideEnvelopeSecret } from './webhook-secret.ts';

/**
 * Creates a planned envelope, with a webhook secret if it needs one: once for a request ID that was given (`isGiven`), or otherwise with
 * one request. When interrupted, reports that it may exist.
 */
export async function executeCreate(
  body: CreateEnvelopeBody,
  options: Pick<CreateOptions, 'check'> & { requestId: string; isGiven: boolean; hint: () => string },
  context: Context,
): Promise<CreateResult> {
  const { requestId, isGiven, hint, check } = options;
  const [client, memory] = [await context.session.client(), await context.session.memory()];
  const unknown = () =>
    `Interrupted before the service responded. The envelope may have been created${body.sendImmediately ? ' and sent' : ''}. Its request ID is ${requestId}.`;
  return withOutcomeCheck({ unknown, hint }, context, async (running) => {
    const own = await provideEnvelopeSecret(body, requestId, context);
    const create = isGiven ? createOnce : createNow;
    const created = await create(client, body, { check, ...running, memory, secret: own });
    await own?.link(created.envelope.id);
    return created;
  });
}
