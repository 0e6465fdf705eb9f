import { createBody, type NewEnvelope } from '../../envelopes/create.ts';
import { UsageError } from '../../kernel/errors.ts';
import type { Context } from '../context.ts';
import { readText } from '../input/files.ts';
import { readWebhookSecret } from '../input/secrets.ts';
import { readMetadata, readSigners } from './signers.ts';

interface CreateFlags {
  template?: string | undefined;
  signer?: string[] | undefined;
  'signers-file'?: string | undefined;
  subject?: string | undefined;
  message?: string | undefined;
  'message-file'?: string | undefined;
  metadata?: string[] | undefined;
  'metadata-file'?: string | undefined;
  'webhook-url'?: string | undefined;
  'webhook-secret-file'?: string | undefined;
  'expires-in-days'?: number | undefined;
  'signing-order'?: string | undefined;
  send: boolean;
  'dry-run': boolean;
  'request-id'?: string | undefined;
  quiet: boolean;
  profile?: string | undefined;
  'base-url'?: string | undefined;
}

/**
 * The envelope that the flags describe. Where template or signers are missing, the person at the terminal is asked.
 * @throws UsageError where nobody can be asked.
 */
export async function readNewEnvelope(flags: CreateFlags, context: Context): Promise<NewEnvelope> {
  const { template: templateId } = flags;
  const hasSigners = flags.signer !== undefined || flags['signers-file'] !== undefined;
  const asks = (templateId === undefined || !hasSigners) && context.terminal.canAsk && !context.json;
  if (templateId === undefined && !asks) {
    throw new UsageError('The flag --template is missing: the template to make the envelope from.', {
      hint: 'See them with `esign templates list`. On a terminal it is asked for.',
    });
  }
  const envelope = {
    signers: asks && !hasSigners ? [] : await readSigners(flags, context),
    subject: flags.subject,
    message:
      flags['message-file'] === undefined
        ? flags.message
        : await readText(flags['message-file'], 'message file'),
    metadata: await readMetadata(flags.metadata, flags['metadata-file']),
    webhookUrl: flags['webhook-url'],
    webhookSecret: await readWebhookSecret(flags['webhook-secret-file'], flags['webhook-url'], context),
    expiresInDays: flags['expires-in-days'],
    signingOrder: flags['signing-order']?.toUpperCase(),
    send: flags.send,
  };
  if (templateId !== undefined && !asks) return { ...envelope, templateId };
  // Flags that contradict each other are refused before anything is asked.
  createBody({ ...envelope, templateId: '' }, '');
  const { compose } = await import('./compose.ts');
  return compose({ templateId, envelope, options: keptFlags(flags), dryRun: flags['dry-run'] }, context);
}

const KEPT = [
  'expires-in-days',
  'metadata-file',
  'webhook-url',
  'webhook-secret-file',
  'request-id',
  'profile',
  'base-url',
  'send',
  'quiet',
  'dry-run',
] as const;

/** What an equivalent command repeats as it was given. */
function keptFlags(flags: CreateFlags): (readonly [string, string | true])[] {
  const metadata = (flags.metadata ?? []).map((pair) => ['metadata', pair] as const);
  const others = KEPT.flatMap((name) => {
    const value = flags[name];
    if (value === undefined || value === false) return [];
    return [[name, value === true ? value : String(value)] as const];
  });
  return [...metadata, ...others];
}
