import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { DAY_MS } from '../kernel/duration.ts';
import { codeOf, UsageError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { makePrivateFolder, writeFileAtomic } from '../kernel/files/files.ts';
import { parseJson } from '../kernel/json.ts';
import { lockStore } from './update-store.ts';

const entrySchema = z.object({
  baseUrl: z.string(),
  requestId: z.string(),
  /** Set once the envelope's ID is known. */
  envelopeId: z.optional(z.string()),
  secret: z.string(),
  /** ms since the epoch */
  createdAt: z.number(),
});
const fileSchema = z.object({ secrets: z.array(entrySchema) });
export type WebhookSecret = z.infer<typeof entrySchema>;

/** How long a secret is kept. Envelopes expire after 30 days by default, but deliveries may be replayed later. */
const RETENTION_MS = 400 * DAY_MS;
/** The number of newest secrets that are kept regardless of their age, because the clock may have been wrong. */
const ALWAYS_KEPT = 10_000;

export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`;
}

/** Returns the webhook secrets generated on this machine, one per envelope. The service never returns them. */
export async function readWebhookSecrets(folder: string): Promise<WebhookSecret[]> {
  const path = pathIn(folder);
  try {
    const file = fileSchema.safeParse(parseJson(await readFile(path, 'utf8')));
    if (file.success) return file.data.secrets;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
  }
  throw new UsageError(`The webhook secrets file ${path} can't be read. It was left unchanged.`, {
    hint: "Fix it, or move it out of the way. If you move it, deliveries for earlier envelopes can't be verified.",
  });
}

/**
 * Stores a secret under the request ID before the envelope is created, and adds the envelope's ID later. If the secret were lost,
 * the envelope's deliveries couldn't be verified. Returns the stored secret, and whether it is new: the first one of a request ID
 * stays, because another process may have sent it already.
 * @throws UsageError if it can't be written.
 */
export async function saveWebhookSecret(
  folder: string,
  entry: WebhookSecret,
): Promise<{ secret: string; isNew: boolean }> {
  let earlier: WebhookSecret | undefined;
  try {
    await update(folder, (secrets) => {
      const isSame = (one: WebhookSecret) =>
        one.requestId === entry.requestId && one.baseUrl === entry.baseUrl;
      earlier = secrets.find(isSame);
      const others = secrets.filter((one) => !isSame(one));
      const old = others.slice(0, -ALWAYS_KEPT);
      const kept = old.filter(({ createdAt }) => createdAt > entry.createdAt - RETENTION_MS);
      return [...kept, ...others.slice(-ALWAYS_KEPT), { ...entry, secret: earlier?.secret ?? entry.secret }];
    });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`Can't store a webhook secret in ${pathIn(folder)} (${diskReason(error)}).`, {
      cause: error,
      hint: 'Provide one with --webhook-secret-file, or use a different folder with ESIGN_CONFIG_DIR.',
    });
  }
  return { secret: earlier?.secret ?? entry.secret, isNew: earlier === undefined };
}

/** Removes the secret of a request ID for which no envelope was created. */
export async function removeWebhookSecret(
  folder: string,
  { baseUrl, requestId, secret }: Pick<WebhookSecret, 'baseUrl' | 'requestId' | 'secret'>,
): Promise<void> {
  await update(folder, (secrets) =>
    secrets.filter((one) => one.requestId !== requestId || one.baseUrl !== baseUrl || one.secret !== secret),
  );
}

async function update(
  folder: string,
  change: (secrets: readonly WebhookSecret[]) => WebhookSecret[],
): Promise<void> {
  await makePrivateFolder(folder);
  const release = await lockStore(pathIn(folder));
  try {
    const secrets = change(await readWebhookSecrets(folder));
    await writeFileAtomic(pathIn(folder), `${JSON.stringify({ secrets }, null, 2)}\n`, 0o600);
  } finally {
    await release();
  }
}

function pathIn(folder: string): string {
  return join(folder, 'webhook-secrets.json');
}
