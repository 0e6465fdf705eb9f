import type { Envelope } from '../../../api/schemas.ts';
import type { Created, NewEnvelope } from '../../../envelopes/create.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { EsignError, isAmbiguous, messageOf } from '../../../kernel/errors.ts';
import { configDir } from '../../../kernel/files/paths.ts';
import type { Redactor } from '../../../kernel/redaction.ts';
import { REQUEST_ID_KEY } from '../../../kernel/vocabulary.ts';
import {
  keepWebhookSecret,
  newWebhookSecret,
  readWebhookSecrets,
  removeWebhookSecret,
  type WebhookSecret,
} from '../../../profiles/webhook-secrets.ts';

/** The parts of a command's context that secrets need. */
interface SecretContext {
  session: {
    clock: Pick<Clock, 'now'>;
    settings(): Promise<{ baseUrl: { value: string } | undefined }>;
  };
  terminal: { redactor: Pick<Redactor, 'add'>; notice(text: string): void };
}

/**
 * Creates an envelope that has a webhook URL and no secret with a secret of its own, which is kept on this machine so
 * that `listen` can verify its deliveries; the service never gives it back. A rerun takes the same one, and one that is made
 * in the place of another envelope the secret of that one (`inherited`).
 */
export async function withOwnSecret(
  wanted: NewEnvelope,
  requestId: string,
  context: SecretContext,
  create: (wanted: NewEnvelope) => Promise<Created>,
  inherited?: string,
): Promise<Created> {
  if (wanted.webhookUrl === undefined || wanted.webhookSecret !== undefined) return create(wanted);
  const baseUrl = (await context.session.settings()).baseUrl?.value ?? '';
  const isOurs = (one: { requestId: string; baseUrl: string }) =>
    one.requestId === requestId && one.baseUrl === baseUrl;
  const earlier = (await readWebhookSecrets(configDir())).find(isOurs);
  const secret = earlier?.secret ?? inherited ?? newWebhookSecret();
  context.terminal.redactor.add(secret);
  const entry = { baseUrl, requestId, secret, createdAt: context.session.clock.now() };
  await keepWebhookSecret(configDir(), entry);
  const created = await create({ ...wanted, webhookSecret: secret }).catch(async (error: unknown) => {
    // An earlier run with this request ID may have created the envelope with this secret.
    const isUnused = earlier === undefined && error instanceof EsignError && !isAmbiguous(error);
    if (isUnused) await removeWebhookSecret(configDir(), entry).catch(() => undefined);
    throw error;
  });
  await bind({ ...entry, envelopeId: created.envelope.id }, context);
  return created;
}

/** The secret that signs the deliveries of an envelope, where it was made here. */
export async function keptSecretOf(envelopeId: string, context: SecretContext): Promise<string | undefined> {
  const baseUrl = (await context.session.settings()).baseUrl?.value ?? '';
  const secrets = await readWebhookSecrets(configDir());
  const kept = secrets.find((one) => one.envelopeId === envelopeId && one.baseUrl === baseUrl);
  context.terminal.redactor.add(kept?.secret);
  return kept?.secret;
}

/** Binds the secret that was made for an envelope to it, where an earlier run ended before that. */
export async function bindSecret(
  { id, webhookUrl, metadata }: Envelope,
  context: SecretContext,
): Promise<void> {
  const requestId = metadata?.[REQUEST_ID_KEY];
  if (!webhookUrl || typeof requestId !== 'string') return;
  const baseUrl = (await context.session.settings()).baseUrl?.value ?? '';
  const secrets = await readWebhookSecrets(configDir());
  const open = secrets.find(
    (one) => one.requestId === requestId && one.baseUrl === baseUrl && !one.envelopeId,
  );
  if (open) await bind({ ...open, envelopeId: id }, context);
}

/** The envelope is there by now: that its secret can't be bound to it is no reason to say less of it. */
async function bind(entry: WebhookSecret & { envelopeId: string }, context: SecretContext): Promise<void> {
  await keepWebhookSecret(configDir(), entry).catch((error: unknown) =>
    context.terminal.notice(
      `\`listen\` does not know the webhook secret of ${entry.envelopeId} yet: ${messageOf(error)} Run the same again with --request-id ${entry.requestId}.`,
    ),
  );
}
