import type { Envelope } from '../../../api/resource-types.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { EsignError, messageOf } from '../../../kernel/errors.ts';
import { configDir } from '../../../kernel/files/paths.ts';
import type { Redactor } from '../../../kernel/redaction.ts';
import { isAmbiguous } from '../../../kernel/request-failures.ts';
import { REQUEST_ID_KEY } from '../../../kernel/vocabulary.ts';
import type { EnvelopeInput } from '../../../once/create-body.ts';
import type { WebhookSecretSource } from '../../../once/created.ts';
import {
  newWebhookSecret,
  readWebhookSecrets,
  removeWebhookSecret,
  saveWebhookSecret,
  type WebhookSecret,
} from '../../../settings/webhook-secrets.ts';

/** The parts of a command's context that secrets need. */
interface SecretContext {
  session: { clock: Pick<Clock, 'now'>; baseUrl(): Promise<string> };
  terminal: { redactor: Pick<Redactor, 'add'>; notice(text: string): void };
}

export interface EnvelopeSecret extends WebhookSecretSource {
  /** Links it to the new envelope. If an earlier run created the envelope, links the secret of that run, if it is stored. */
  link(envelopeId: string): Promise<void>;
}

/**
 * Provides the secret of an envelope with a webhook URL: the given one, that of the replaced envelope (`inherited`), or a new one, which
 * a rerun uses again. Returns undefined without a webhook URL. The secret is stored on this machine so that `listen` can verify the
 * deliveries; the service never returns it.
 */
export async function provideEnvelopeSecret(
  { webhookUrl, webhookSecret: given }: Pick<EnvelopeInput, 'webhookUrl' | 'webhookSecret'>,
  requestId: string,
  context: SecretContext,
  inherited?: string,
): Promise<EnvelopeSecret | undefined> {
  if (webhookUrl === undefined) return undefined;
  const isGiven = given !== undefined;
  const baseUrl = await context.session.baseUrl();
  let sent: WebhookSecret | undefined;
  // An earlier run with this request ID may already have sent the secret.
  let isUsed = false;
  return {
    async store() {
      const offered = given ?? inherited ?? newWebhookSecret();
      const createdAt = context.session.clock.now();
      const entry = { baseUrl, requestId, secret: offered, createdAt };
      const { secret, isNew } = await saveWebhookSecret(configDir(), entry, isGiven);
      context.terminal.redactor.add(secret);
      isUsed = !isNew;
      sent = { ...entry, secret };
      return secret;
    },
    async discard(error) {
      if (sent === undefined || isUsed || !(error instanceof EsignError) || isAmbiguous(error)) return;
      await removeWebhookSecret(configDir(), sent).catch(() => undefined);
      sent = undefined;
    },
    async link(envelopeId) {
      if (sent) return saveSecretOfEnvelope({ ...sent, envelopeId }, context, isGiven);
      // The envelope existed. Only the secret of an interrupted run may be its secret.
      const secrets = await readWebhookSecrets(configDir()).catch(() => []);
      if (secrets.some((one) => one.envelopeId === envelopeId && one.baseUrl === baseUrl)) return;
      const stored = forRequest(requestId, baseUrl, secrets);
      if (stored && !stored.envelopeId) return saveSecretOfEnvelope({ ...stored, envelopeId }, context);
      if (isGiven) return;
      context.terminal.notice(
        `The webhook secret for ${envelopeId} is not stored on this machine. To verify its webhooks here, use \`listen --secret-file FILE\`.`,
      );
    },
  };
}

function forRequest(
  requestId: string,
  baseUrl: string,
  secrets: readonly WebhookSecret[],
): WebhookSecret | undefined {
  return secrets.find((one) => one.requestId === requestId && one.baseUrl === baseUrl);
}

/** Returns the secret that signs the deliveries of an envelope, if it is stored on this machine. */
export async function storedSecretOf(
  envelopeId: string,
  context: SecretContext,
): Promise<string | undefined> {
  const baseUrl = await context.session.baseUrl();
  const secrets = await readWebhookSecrets(configDir());
  const kept = secrets.find((one) => one.envelopeId === envelopeId && one.baseUrl === baseUrl);
  context.terminal.redactor.add(kept?.secret);
  return kept?.secret;
}

/** Links a stored secret to its envelope, if an earlier run was interrupted before that. */
export async function linkSecretToEnvelope(
  { id, webhookUrl, metadata }: Envelope,
  context: SecretContext,
): Promise<void> {
  const requestId = metadata?.[REQUEST_ID_KEY];
  if (!webhookUrl || typeof requestId !== 'string') return;
  const baseUrl = await context.session.baseUrl();
  const stored = forRequest(requestId, baseUrl, await readWebhookSecrets(configDir()));
  if (stored && !stored.envelopeId) await saveSecretOfEnvelope({ ...stored, envelopeId: id }, context);
}

/** A failure is only a notice, because the envelope was created. */
async function saveSecretOfEnvelope(
  entry: WebhookSecret & { envelopeId: string },
  context: SecretContext,
  isGiven = false,
): Promise<void> {
  await saveWebhookSecret(configDir(), entry, isGiven).catch((error: unknown) =>
    context.terminal.notice(
      `The webhook secret for ${entry.envelopeId} is not available to \`listen\` yet: ${messageOf(error)} To fix this, run the same command with --request-id ${entry.requestId}.`,
    ),
  );
}
