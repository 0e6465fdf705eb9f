import * as Flags from '@oclif/core/flags';
import { RESERVE } from '../../api/defaults.ts';
import { CONCURRENCY } from '../../bulk/defaults.ts';
import { confirmFlag, inGroup, numberFlag, shareFlag, textFlag } from '../../cli/flags.ts';
import { UsageError } from '../../kernel/errors.ts';

/** The flags of new and resumed runs. */
export const bulkFlags = {
  ...inGroup('PACE', {
    concurrency: Flags.integer({
      description: 'maximum number of rows in progress',
      default: CONCURRENCY,
      min: 1,
      max: 256,
      helpValue: 'N',
    }),
    reserve: shareFlag({
      description: `share of the rate limit to leave for your other systems (default ${RESERVE * 100}%)`,
      helpValue: '10%',
    }),
    'max-requests': numberFlag('stop after N requests; continue with `bulk resume`', { min: 1 }),
    'stop-on-error': numberFlag('stop after N failed rows', { min: 1 }),
  }),
  confirm: confirmFlag,
  'webhook-secret-file': textFlag(
    'FILE',
    'file with the webhook secret for rows with a webhook_url (or set ESIGN_WEBHOOK_SECRET)',
  ),
};

const DELIMITERS: Readonly<Record<string, string>> = { comma: ',', semicolon: ';', tab: '\t' };

/** The delimiter of CSV that is created from an .xlsx file. */
export const delimiterFlag = Flags.custom<string>({
  description:
    'CSV output delimiter for an .xlsx file: comma, semicolon, or tab (default: depends on your locale)',
  helpValue: 'NAME',
  helpGroup: 'FILE',
  parse: (text) => {
    const delimiter = Object.hasOwn(DELIMITERS, text) ? DELIMITERS[text] : undefined;
    if (delimiter !== undefined) return Promise.resolve(delimiter);
    throw new UsageError(`Invalid value for --delimiter: "${text}". Use comma, semicolon, or tab.`, {
      hint: 'Example: --delimiter semicolon',
    });
  },
})();

/**
 * Returns the delimiter that spreadsheet programs in the user's language expect: a semicolon where a comma separates decimals.
 */
export function localDelimiter(): string {
  return (1.5).toLocaleString().includes(',') ? ';' : ',';
}
