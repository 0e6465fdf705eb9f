import * as Flags from '@oclif/core/flags';
import { shareFlag } from '../flags.ts';

/** How a run works, whether it starts or goes on. */
export const bulkFlags = {
  concurrency: Flags.integer({
    description: 'rows on their way at once, at most',
    default: 16,
    min: 1,
    max: 256,
    helpValue: 'N',
    helpGroup: 'PACE',
  }),
  reserve: shareFlag({
    description: 'part of the rate window left for your other systems (default 10%)',
    helpValue: '10%',
    helpGroup: 'PACE',
  }),
  'max-requests': Flags.integer({
    description: 'stop after so many requests; the rest is for `bulk resume`',
    min: 1,
    helpValue: 'N',
    helpGroup: 'PACE',
  }),
  'stop-on-error': Flags.integer({
    description: 'stop when so many rows have failed',
    min: 1,
    helpValue: 'N',
    helpGroup: 'PACE',
  }),
  'webhook-secret-file': Flags.string({
    description: 'file with the secret for rows with a webhook_url; or ESIGN_WEBHOOK_SECRET',
    helpValue: 'FILE',
  }),
};
