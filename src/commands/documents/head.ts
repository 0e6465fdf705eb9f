import * as Args from '@oclif/core/args';
import { EsignCommand } from '../../cli/command.ts';
import { readIds } from '../../cli/ids.ts';
import { forEachKey } from '../../cli/storage-keys.ts';
import { describeObject } from '../../documents/object-facts.ts';
import { renderObject } from '../../output/file-view.ts';

export default class DocumentsHead extends EsignCommand {
  static override summary = 'Show what the bucket says of files without fetching them: size, time, ETag.';
  static override examples = [
    '<%= config.bin %> documents head esign/envelopes/org_1/env_123/signed.pdf',
    '<%= config.bin %> envelopes get env_123 --json | jq -r .signedDocumentStorageKey | <%= config.bin %> documents head -',
    '<%= config.bin %> documents head KEY --json | jq .size',
  ];
  static override strict = false;
  static override args = {
    key: Args.string({ description: 'storage keys, or - to read them from stdin', ignoreStdin: true }),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(DocumentsHead);
    const around = this.surroundings(flags);
    const keys = await readIds(argv.map(String), 'storage key');
    await forEachKey(
      keys,
      async (bucket, key) => describeObject(key, await bucket.head(key, around.signal)),
      (facts) => renderObject(facts, around.terminal, around.clock.now()),
      around,
    );
  }
}
