import * as Flags from '@oclif/core/flags';
import { shareFlag } from '../../cli/flags.ts';

/** How a run works, whether it is new or resumed. */
export const bulkFlags = {
  concurrency: Flags.integer({
    description: 'maximum number of rows in progress',
    default: 16,
    min: 1,
    max: 256,
    helpValue: 'N',
    helpGroup: 'PACE',
  }),
  reserve: shareFlag({
    description: 'share of the rate limit to leave for your other systems (default 10%)',
    helpValue: '10%',
    helpGroup: 'PACE',
  }),
  'max-requests': Flags.integer({
    description: 'stop after N requests; continue with `bulk resume`',
    min: 1,
    helpValue: 'N',
    helpGroup: 'PACE',
  }),
  'stop-on-error': Flags.integer({
    description: 'stop after N failed rows',
    min: 1,
    helpValue: 'N',
    helpGroup: 'PACE',
  }),
  'webhook-secret-file': Flags.string({
    description: 'file with the webhook secret for rows with a webhook_url; or ESIGN_WEBHOOK_SECRET',
    helpValue: 'FILE',
  }),
};
