import { EsignCommand } from '../../cli/command.ts';
import { optionalArg } from '../../cli/flags.ts';
import { readIds } from '../../cli/input/ids.ts';
import { parseNameTemplate } from '../archive/file-name-template.ts';
import { targetOfKey } from '../download/targets.ts';
import { downloadAll, downloadFlags } from './run-download.ts';

export default class DocumentsDownload extends EsignCommand {
  static override summary = 'Download files from your bucket by storage key.';
  static override examples = [
    '<%= config.bin %> documents download esign/envelopes/org_1/env_123/signed.pdf',
    '<%= config.bin %> documents download esign/envelopes/org_1/env_123/signed.pdf -o - | pdftotext - -',
    '<%= config.bin %> envelopes get env_123 --json | jq -r .certificateStorageKey | <%= config.bin %> documents download -',
  ];
  static override strict = false;
  static override args = {
    key: optionalArg('storage keys, or `-` to read them from stdin'),
  };
  static override flags = downloadFlags;

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(DocumentsDownload);
    const context = this.context(flags);
    const layout = flags['name-template'];
    const naming = layout === undefined ? undefined : parseNameTemplate(layout, 'key');
    const { ids: keys } = await readIds(argv.map(String), 'storage key', context.terminal);
    await downloadAll(keys.map(targetOfKey), flags, context, { naming });
  }
}
