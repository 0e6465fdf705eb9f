import { EsignCommand } from '../../cli/command.ts';
import { optionalArg } from '../../cli/flags.ts';
import { readIds } from '../../cli/input/ids.ts';
import { describeObject } from '../../documents/bucket/object.ts';
import { renderObject } from './download/view.ts';
import { forEachKey } from './keys.ts';

export default class DocumentsHead extends EsignCommand {
  static override summary = 'Show the size, modification time, and ETag of files without downloading them.';
  static override examples = [
    '<%= config.bin %> documents head esign/envelopes/org_1/env_123/signed.pdf',
    '<%= config.bin %> envelopes get env_123 --json | jq -r .signedDocumentStorageKey | <%= config.bin %> documents head -',
    '<%= config.bin %> documents head KEY --json | jq .size',
  ];
  static override strict = false;
  static override args = {
    key: optionalArg('storage keys, or `-` to read them from stdin'),
  };

  async run(): Promise<void> {
    const { argv, context } = await this.start(DocumentsHead);
    const keys = await readIds(argv.map(String), 'storage key', context.terminal);
    await forEachKey(
      keys,
      async (bucket, key) => describeObject(key, await bucket.head(key, context.interrupt.signal)),
      { show: (facts) => renderObject(facts, context.terminal, context.session.clock.now()) },
      context,
    );
  }
}
