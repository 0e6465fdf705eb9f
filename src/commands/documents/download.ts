import * as Args from '@oclif/core/args';
import { EsignCommand } from '../../cli/command.ts';
import { downloadAll, downloadFlags } from '../../cli/downloading.ts';
import { readIds } from '../../cli/ids.ts';
import { fileOfKey } from '../../documents/papers.ts';

export default class DocumentsDownload extends EsignCommand {
  static override summary = 'Fetch files from your bucket by their storage keys.';
  static override examples = [
    '<%= config.bin %> documents download esign/envelopes/org_1/env_123/signed.pdf',
    '<%= config.bin %> documents download esign/envelopes/org_1/env_123/signed.pdf -o - | pdftotext - -',
    '<%= config.bin %> envelopes get env_123 --json | jq -r .certificateStorageKey | <%= config.bin %> documents download -',
  ];
  static override strict = false;
  static override args = {
    key: Args.string({ description: 'storage keys, or - to read them from stdin', ignoreStdin: true }),
  };
  static override flags = downloadFlags;

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(DocumentsDownload);
    const around = this.surroundings(flags);
    const { ids: keys } = await readIds(argv.map(String), 'storage key');
    const wishes = keys.map((key) => {
      const wanted = fileOfKey(key);
      return { envelopeId: wanted.envelopeId, what: wanted.what, key, locate: () => Promise.resolve(wanted) };
    });
    await downloadAll(wishes, flags, around);
  }
}
