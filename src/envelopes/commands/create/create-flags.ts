import * as Flags from '@oclif/core/flags';
import type { InferredFlags } from '@oclif/core/interfaces';
import {
  booleanFlag,
  confirmFlag,
  dryRunFlag,
  inGroup,
  messageFileFlag,
  missingRolesFlag,
  numberFlag,
  repeatedTextFlag,
  textFlag,
  yesFlag,
} from '../../../cli/flags.ts';
import type { CommonFlags } from '../../../cli/session/context.ts';
import { LIMITS } from '../../../kernel/vocabulary.ts';

export const createFlags = {
  template: textFlag('ID', 'template to use'),
  ...inGroup('SIGNER', {
    signer: repeatedTextFlag('SIGNER', 'signer; can be repeated, up to 20 times'),
    'signers-file': textFlag('FILE', 'signers as CSV or .xlsx (email,name,role,order), or JSON'),
  }),
  ...inGroup('EMAIL', {
    subject: textFlag('TEXT', 'email subject'),
    message: textFlag('TEXT', 'email message', { exclusive: ['message-file'] }),
  }),
  'message-file': messageFileFlag,
  metadata: repeatedTextFlag('K=V', 'key=value stored with the envelope; can be repeated'),
  ...inGroup('WEBHOOK', {
    'webhook-url': textFlag('URL', 'URL to deliver webhook events to'),
    'webhook-secret-file': textFlag(
      'FILE',
      'file with the secret that signs the webhooks (or set ESIGN_WEBHOOK_SECRET; default: a new one, stored for `listen`)',
    ),
  }),
  'expires-in-days': numberFlag(`days until it expires (default ${LIMITS.expiresInDays})`, { min: 1 }),
  'signing-order': Flags.string({
    description: 'one signer after the other, or all at the same time',
    options: ['sequential', 'parallel'],
    helpValue: 'sequential|parallel',
    helpGroup: 'SIGNER',
  }),
  send: booleanFlag('send the envelope to its signers immediately'),
  'request-id': textFlag('KEY', 'idempotency key: the same ID never creates a second envelope'),
  'allow-missing-roles': missingRolesFlag,
  quiet: booleanFlag('print only the envelope ID', { char: 'q', exclusive: ['json'] }),
  yes: yesFlag,
  confirm: confirmFlag,
  'dry-run': dryRunFlag,
};

export type CreateFlags = InferredFlags<typeof createFlags> & CommonFlags;

const PRESERVED_FLAGS = [
  'expires-in-days',
  'webhook-url',
  'webhook-secret-file',
  'allow-missing-roles',
  'profile',
  'base-url',
  'confirm',
  'quiet',
] as const;

/** Returns the flags that the equivalent command repeats: name and value, or true. */
export function preservedFlags(flags: CreateFlags): (readonly [string, string | true])[] {
  const metadata = (flags.metadata ?? []).map((pair) => ['metadata', pair] as const);
  const others = PRESERVED_FLAGS.flatMap((name) => {
    const value = flags[name];
    if (value === undefined || value === false) return [];
    return [[name, value === true ? value : String(value)] as const];
  });
  return [...metadata, ...others];
}
