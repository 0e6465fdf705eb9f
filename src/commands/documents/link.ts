import * as Args from '@oclif/core/args';
import { EsignCommand } from '../../cli/command.ts';
import { forEachKey } from '../../cli/documents/keys.ts';
import { durationFlag } from '../../cli/flags.ts';
import { readKeys } from '../../cli/input/ids.ts';

const DEFAULT_MS = 15 * 60_000;
/** The longest that S3 accepts. */
const MOST_S = 7 * 86_400;

export default class DocumentsLink extends EsignCommand {
  static override summary = 'Print a link that opens a file without a key, for a while.';
  static override description =
    'Whoever has the link can read the file until it expires. It is printed to stdout and nowhere else.';
  static override examples = [
    '<%= config.bin %> documents link esign/envelopes/org_1/env_123/signed.pdf',
    '<%= config.bin %> documents link KEY --expires 2h',
    '<%= config.bin %> documents link KEY --json | jq -r .url',
  ];
  static override strict = false;
  static override args = {
    key: Args.string({ description: 'storage keys, or - to read them from stdin', ignoreStdin: true }),
  };
  static override flags = {
    expires: durationFlag({
      description: 'how long it works, up to 7d (default 15m)',
      helpValue: '15m',
      least: 1_000,
    }),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(DocumentsLink);
    const context = this.context(flags);
    const seconds = Math.min(MOST_S, Math.round((flags.expires ?? DEFAULT_MS) / 1_000));
    const keys = await readKeys(argv.map(String));
    const expiresAt = new Date(context.clock.now() + seconds * 1_000).toISOString();
    await forEachKey(
      keys,
      async (bucket, key) => {
        // A link to nothing helps nobody.
        await bucket.head(key, context.signal);
        return { key, url: await bucket.link(key, seconds), expiresAt };
      },
      { show: ({ url }) => `${url}\n`, secret: true },
      context,
    );
  }
}
