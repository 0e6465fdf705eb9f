import type { Created, NewEnvelope } from '../../../envelopes/create.ts';
import { configDir } from '../../../kernel/files/paths.ts';
import {
  keepWebhookSecret,
  newWebhookSecret,
  readWebhookSecrets,
} from '../../../profiles/webhook-secrets.ts';
import type { Context } from '../../context.ts';

/**
 * Creates an envelope that has a webhook URL and no secret with a secret of its own, which is kept on this machine so
 * that `listen` can verify its deliveries; the service never gives it back. A rerun takes the same one.
 */
export async function withOwnSecret(
  wanted: NewEnvelope,
  requestId: string,
  context: Context,
  create: (wanted: NewEnvelope) => Promise<Created>,
): Promise<Created> {
  if (wanted.webhookUrl === undefined || wanted.webhookSecret !== undefined) return create(wanted);
  const baseUrl = (await context.settings()).baseUrl?.value ?? '';
  const isOurs = (one: { requestId: string; baseUrl: string }) =>
    one.requestId === requestId && one.baseUrl === baseUrl;
  const earlier = (await readWebhookSecrets(configDir())).find(isOurs);
  const secret = earlier?.secret ?? newWebhookSecret();
  context.redactor.add(secret);
  const entry = { baseUrl, requestId, secret, createdAt: context.clock.now() };
  await keepWebhookSecret(configDir(), entry);
  const created = await create({ ...wanted, webhookSecret: secret });
  await keepWebhookSecret(configDir(), { ...entry, envelopeId: created.envelope.id });
  return created;
}
