import { configDir } from '../../kernel/files/paths.ts';
import { readWebhookSecrets } from '../../settings/webhook-secrets.ts';
import type { Context } from './context.ts';

/** Adds all local secrets to the redactor, because an envelope or a webhook could contain one. */
export async function addKnownSecrets({ terminal: { redactor } }: Context): Promise<void> {
  const { ESIGN_WEBHOOK_SECRET, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  for (const secret of [ESIGN_WEBHOOK_SECRET, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN]) redactor.add(secret);
  for (const { secret } of await readWebhookSecrets(configDir())) redactor.add(secret);
}
