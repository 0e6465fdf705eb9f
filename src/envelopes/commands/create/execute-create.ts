import type { CreateEnvelopeBody } from '../../../api/resources.ts';
import type { Context } from '../../../session/context.ts';
import { type Created, type CreateOptions, createEnvelope } from '../../create-once.ts';
import { withOutcomeCheck } from '../write-errors.ts';
import { ownSecret } from './webhook-secret.ts';

/** Creates a planned envelope, with a webhook secret if it needs one. When interrupted, reports that it may exist. */
export async function executeCreate(
  body: CreateEnvelopeBody,
  options: Pick<CreateOptions, 'rerun' | 'resumesInterrupted' | 'check'> & {
    requestId: string;
    hint: () => string;
  },
  context: Context,
): Promise<Created> {
  const { requestId, hint, ...rest } = options;
  const [client, memory] = [await context.session.client(), await context.session.memory()];
  const unknown = () =>
    `Interrupted before the service responded. The envelope may have been created${body.sendImmediately ? ' and sent' : ''}. Its request ID is ${requestId}.`;
  return withOutcomeCheck({ unknown, hint }, context, async (running) => {
    const own = await ownSecret(body, requestId, context);
    const created = await createEnvelope(client, body, { ...rest, ...running, memory, secret: own });
    await own?.link(created.envelope.id);
    return created;
  });
}
