import { stat } from 'node:fs/promises';
import { UsageError } from '../kernel/errors.ts';
import { configDir } from '../kernel/paths.ts';
import { readWebhookSecrets, type WebhookSecret } from '../profiles/webhook-secrets.ts';
import type { ReceiverOptions } from '../webhooks/receiver.ts';
import { readSecret, readSecretFile } from './secrets.ts';
import type { Surroundings } from './surroundings.ts';

const FRESH_MS = 250;

/**
 * The secrets to check a delivery with: those that were given, and the one that was made here for the envelope it claims
 * to be of.
 * @throws UsageError when there are none and nobody to ask.
 */
export async function listenSecrets(
  files: readonly string[] | undefined,
  around: Surroundings,
): Promise<ReceiverOptions['secretsFor']> {
  const given = await Promise.all((files ?? []).map((file) => readSecretFile(file, 'webhook secret')));
  if (process.env.ESIGN_WEBHOOK_SECRET) given.push(process.env.ESIGN_WEBHOOK_SECRET);
  const stored = storedSecrets(around);
  if (given.length === 0 && (await stored()).length === 0) {
    const hint =
      'Give --secret-file FILE or ESIGN_WEBHOOK_SECRET, create the envelope with --webhook-url first, or take everything unchecked with --no-verify.';
    given.push(await readSecret({ what: 'webhook secret', hint }, around));
  }
  for (const secret of given) {
    if (secret === '')
      throw new UsageError('A webhook secret is empty.', { hint: 'Make one: `esign events secret > FILE`.' });
    around.redactor.add(secret);
  }
  return async (envelopeId) => {
    const all = await stored();
    // One that is not bound yet may be that of an envelope whose creation is being answered at this moment.
    const isFor = (one: WebhookSecret) => one.envelopeId === undefined || one.envelopeId === envelopeId;
    const secretsOf = (list: WebhookSecret[]) => list.map(({ secret }) => secret);
    return {
      secrets: [...given, ...secretsOf(all.filter(isFor))],
      others: secretsOf(all.filter((one) => !isFor(one))),
    };
  };
}

/** The stored secrets, read again when the file has changed. */
function storedSecrets(around: Surroundings): () => Promise<WebhookSecret[]> {
  let [readAt, changedAt, secrets]: [number, number, WebhookSecret[]] = [Number.NEGATIVE_INFINITY, -1, []];
  return async () => {
    const now = around.clock.now();
    if (now - readAt < FRESH_MS) return secrets;
    readAt = now;
    const changed = await stat(`${configDir()}/webhook-secrets.json`).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
    if (changed !== changedAt) secrets = await readWebhookSecrets(configDir());
    changedAt = changed;
    for (const { secret } of secrets) around.redactor.add(secret);
    return secrets;
  };
}
