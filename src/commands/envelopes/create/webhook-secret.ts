import type { Envelope } from '../../../api/schemas.ts';
import type { EnvelopeInput } from '../../../envelopes/create.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { EsignError, isAmbiguous, messageOf } from '../../../kernel/errors.ts';
import { configDir } from '../../../kernel/files/paths.ts';
import type { Redactor } from '../../../kernel/redaction.ts';
import { REQUEST_ID_KEY } from '../../../kernel/vocabulary.ts';
import {
  newWebhookSecret,
  readWebhookSecrets,
  removeWebhookSecret,
  saveWebhookSecret,
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

/** The webhook secret of an envelope about to be created. */
export interface OwnSecret {
  secret: string;
  /** Links it to the envelope that was created with it. */
  link(envelopeId: string): Promise<void>;
  /** Removes it if the error shows that no envelope has it. */
  discard(error: unknown): Promise<void>;
}

/**
 * Creates a secret for an envelope with a webhook URL and no secret; otherwise returns undefined. It is stored on this machine so
 * that `listen` can verify its deliveries; the service never returns it. A rerun uses the same secret, and a replacement that of
 * the replaced envelope (`inherited`).
 */
export async function ownSecret(
  { webhookUrl, webhookSecret }: Pick<EnvelopeInput, 'webhookUrl' | 'webhookSecret'>,
  requestId: string,
  context: SecretContext,
  inherited?: string,
): Promise<OwnSecret | undefined> {
  if (webhookUrl === undefined || webhookSecret !== undefined) return undefined;
  const baseUrl = (await context.session.settings()).baseUrl?.value ?? '';
  const isForRequest = (one: { requestId: string; baseUrl: string }) =>
    one.requestId === requestId && one.baseUrl === baseUrl;
  const earlier = (await readWebhookSecrets(configDir())).find(isForRequest);
  const secret = earlier?.secret ?? inherited ?? newWebhookSecret();
  context.terminal.redactor.add(secret);
  const entry = { baseUrl, requestId, secret, createdAt: context.session.clock.now() };
  await saveWebhookSecret(configDir(), entry);
  // An earlier run with this request ID may already have sent this secret.
  let isUsed = earlier !== undefined;
  return {
    secret,
    async link(envelopeId) {
      isUsed = true;
      await bind({ ...entry, envelopeId }, context);
    },
    async discard(error) {
      if (isUsed || !(error instanceof EsignError) || isAmbiguous(error)) return;
      await removeWebhookSecret(configDir(), entry).catch(() => undefined);
    },
  };
}

/** Returns the secret that signs the deliveries of an envelope, if it is stored on this machine. */
export async function keptSecretOf(envelopeId: string, context: SecretContext): Promise<string | undefined> {
  const baseUrl = (await context.session.settings()).baseUrl?.value ?? '';
  const secrets = await readWebhookSecrets(configDir());
  const kept = secrets.find((one) => one.envelopeId === envelopeId && one.baseUrl === baseUrl);
  context.terminal.redactor.add(kept?.secret);
  return kept?.secret;
}

/** Links a stored secret to its envelope, if an earlier run was interrupted before that. */
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

/** A failure is only a notice, because the envelope was created. */
async function bind(entry: WebhookSecret & { envelopeId: string }, context: SecretContext): Promise<void> {
  await saveWebhookSecret(configDir(), entry).catch((error: unknown) =>
    context.terminal.notice(
      `The webhook secret for ${entry.envelopeId} is not available to \`listen\` yet: ${messageOf(error)} To fix this, run the same command with --request-id ${entry.requestId}.`,
    ),
  );
}
