import * as Flags from '@oclif/core/flags';
import { confirmFlag, numberFlag, readFlags, textFlag, yesFlag } from '../../cli/flags.ts';
import { UsageError } from '../../kernel/errors.ts';

/** The flags of new and resumed runs. */
export const bulkFlags = {
  first: numberFlag('send only the next N rows; `bulk resume` sends the rest', { min: 1 }),
  yes: yesFlag,
  confirm: confirmFlag,
  'webhook-secret-file': textFlag(
    'FILE',
    'file with the webhook secret for rows with a webhook_url (or set ESIGN_WEBHOOK_SECRET)',
  ),
};

const DELIMITER_NAMES: Readonly<Record<string, string>> = { comma: ',', semicolon: ';', tab: '\t' };

/** The flags for reading a file of rows. */
export const fileFlags = {
  ...readFlags,
  delimiter: Flags.custom<string>({
    description: 'character between the cells of CSV, or comma, semicolon, tab (default: detected)',
    helpValue: 'C',
    helpGroup: 'FILE',
    parse: (text) => {
      const delimiter = Object.hasOwn(DELIMITER_NAMES, text) ? DELIMITER_NAMES[text] : text;
      if (delimiter !== undefined && /^[^"\r\n]$/.test(delimiter)) return Promise.resolve(delimiter);
      throw new UsageError(`Invalid value for --delimiter: "${text}". Use one character, such as ; or tab.`, {
        hint: 'Example: --delimiter semicolon',
      });
    },
  })(),
};
