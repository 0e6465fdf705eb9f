import { statSync } from 'node:fs';
import { join } from 'node:path';
import { readWebhookSecret } from '../../cli/input/secrets.ts';
import type { Context } from '../../cli/session/context.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { DAY_MS } from '../../kernel/duration.ts';
import { configDir } from '../../kernel/files/paths.ts';
import { readWebhookSecrets, type WebhookSecret } from '../../settings/webhook-secrets.ts';
import type { ReceiverOptions } from '../receive/receiver.ts';

/** How long to accept a secret whose create request has no response yet. */
const UNBOUND_MS = DAY_MS;
/** The maximum number of other envelopes' secrets to try, and of the bytes to hash with them. Anyone can send a delivery. */
const OTHERS_TRIED = 100;
const OTHERS_TRIED_BYTES = 8 * 1024 * 1024;

const NONE_STORED =
  'No webhook secret is stored yet, so every delivery is refused. Create an envelope with --webhook-url, which stores one, or pass --secret-file.';
const STORED_ONLY =
  'Deliveries are accepted if they are signed with a webhook secret stored on this machine.';

/**
 * Returns a function that returns the secrets for a delivery: the given ones, and the stored one of the envelope named in the payload.
 * If the payload names no envelope, only the given ones, because who knows the secret of one envelope could report on another; if none is
 * given, the latest stored ones. The notice says which secrets are accepted if none is given.
 * @throws UsageError if a given secret is empty.
 */
export async function findListenSecrets(
  files: readonly string[] | undefined,
  context: Context,
): Promise<{ secretsFor: ReceiverOptions['secretsFor']; notice: string | undefined }> {
  const sources = [...(files ?? []), undefined];
  const read = await Promise.all(sources.map((file) => readWebhookSecret(file, context.terminal)));
  const given = read.filter((secret) => secret !== undefined);
  const stored = storedSecrets(context.terminal);
  const hasStored = (await stored()).all.length > 0;
  const secretsFor: ReceiverOptions['secretsFor'] = async (envelopeId, bytes) => {
    const { all, unbound, byEnvelope } = await stored();
    const waiting = recentUnboundSecrets(unbound, context.session.clock.now());
    if (envelopeId !== null) return [...given, ...(byEnvelope.get(envelopeId) ?? waiting)];
    if (given.length > 0) return [...given, ...waiting];
    const tried = Math.min(OTHERS_TRIED, Math.ceil(OTHERS_TRIED_BYTES / bytes));
    return [...waiting, ...latestBoundSecrets(all, tried)];
  };
  return { secretsFor, notice: given.length > 0 ? undefined : hasStored ? STORED_ONLY : NONE_STORED };
}

/** Returns the latest of the secrets with an envelope, newest first. */
function latestBoundSecrets(all: readonly WebhookSecret[], count: number): string[] {
  const bound = all.slice(-count).filter((one) => one.envelopeId !== undefined);
  return bound.toReversed().map(secretOf);
}

/** Returns secrets without an envelope. They may belong to one that is being created right now. */
function recentUnboundSecrets(unbound: readonly WebhookSecret[], now: number): string[] {
  return unbound.filter(({ createdAt }) => now - createdAt < UNBOUND_MS).map(secretOf);
}

interface Stored {
  all: readonly WebhookSecret[];
  unbound: readonly WebhookSecret[];
  byEnvelope: ReadonlyMap<string, readonly string[]>;
}

/**
 * Returns a function that returns the stored secrets, and reads them again if the file has changed, because an envelope's first delivery
 * can arrive right after its secret was stored.
 */
function storedSecrets(terminal: CommandTerminal): () => Promise<Stored> {
  const read = async () => {
    const stored = sorted(await readWebhookSecrets(configDir()));
    for (const { secret } of stored.all) terminal.redactor.add(secret);
    return stored;
  };
  const path = join(configDir(), 'webhook-secrets.json');
  let known: { version: string; stored: Promise<Stored> } | undefined;
  return async () => {
    const file = statSync(path, { throwIfNoEntry: false });
    const version = `${file?.ino} ${file?.size} ${file?.mtimeMs}`;
    if (known?.version === version) return known.stored;
    const latest = { version, stored: read() };
    known = latest;
    latest.stored.catch(() => {
      // The reason may be gone at the next delivery, such as too many open files.
      if (known === latest) known = undefined;
    });
    return latest.stored;
  };
}

function sorted(all: readonly WebhookSecret[]): Stored {
  const byEnvelope = new Map<string, string[]>();
  for (const { envelopeId, secret } of all)
    if (envelopeId !== undefined) byEnvelope.set(envelopeId, [...(byEnvelope.get(envelopeId) ?? []), secret]);
  return { all, unbound: all.filter((one) => one.envelopeId === undefined), byEnvelope };
}

function secretOf({ secret }: WebhookSecret): string {
  return secret;
}
