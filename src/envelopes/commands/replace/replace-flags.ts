import type { InferredFlags } from '@oclif/core/interfaces';
import {
  booleanFlag,
  confirmFlag,
  dryRunFlag,
  inGroup,
  missingRolesFlag,
  numberFlag,
  repeatedTextFlag,
  textFlag,
  yesFlag,
} from '../../../cli/flags.ts';

export const replaceFlags = {
  ...inGroup('SIGNER', {
    signer: repeatedTextFlag(
      'OLD=SIGNER',
      'signer to replace, by email address or ID, and the new signer; can be repeated',
    ),
    'add-signer': repeatedTextFlag('SIGNER', 'signer to add; can be repeated'),
    'remove-signer': repeatedTextFlag('OLD', 'email address or ID of a signer to remove; can be repeated'),
  }),
  'expires-in-days': numberFlag('days until it expires (default: the same period as the original)', {
    min: 1,
  }),
  subject: textFlag('TEXT', 'email subject', { helpGroup: 'EMAIL' }),
  message: textFlag('TEXT', 'email message', { helpGroup: 'EMAIL' }),
  template: textFlag('ID', 'template to use instead of the original'),
  'webhook-secret-file': textFlag(
    'FILE',
    'file with the secret that signs the webhooks (or set ESIGN_WEBHOOK_SECRET; default: the stored secret)',
    { helpGroup: 'WEBHOOK' },
  ),
  reason: textFlag('TEXT', 'reason for canceling the original, stored with it'),
  draft: booleanFlag('only create the replacement as a draft; run again without --draft to finish'),
  'even-if-signed': booleanFlag('replace it even if someone has signed and must sign again'),
  'allow-missing-roles': missingRolesFlag,
  quiet: booleanFlag("print only the replacement's ID", { char: 'q', exclusive: ['json'] }),
  yes: yesFlag,
  confirm: confirmFlag,
  'dry-run': dryRunFlag,
};

export type ReplaceFlags = Partial<InferredFlags<typeof replaceFlags>>;
