import { EsignCommand } from '../../cli/command.ts';
import { durationFlag, optionalArg } from '../../cli/flags.ts';
import { readIds } from '../../cli/input/ids.ts';
import type { Context } from '../../cli/session/context.ts';
import { durationText } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import { exactTime } from '../../output/time.ts';
import { requireStorageKey } from '../download/locate.ts';
import { LINK_DURATION_MS } from '../download-limits.ts';
import { forEachKey } from './storage-keys.ts';

export default class DocumentsLink extends EsignCommand {
  static override summary = 'Create a temporary download link (presigned URL) to a file.';
  static override description =
    'Anyone with the link can read the file until it expires. It is printed to stdout and not stored.';
  static override examples = [
    '<%= config.bin %> documents link esign/envelopes/org_1/env_123/signed.pdf',
    '<%= config.bin %> documents link env_123 --expires 2h',
    '<%= config.bin %> documents link KEY --json | jq -r .url',
  ];
  static override strict = false;
  static override args = {
    key: optionalArg('storage keys, or envelope IDs for their signed documents; `-` to read from stdin'),
  };
  static override flags = {
    expires: durationFlag(
      '15m',
      `how long the link works, up to ${durationText(LINK_DURATION_MS.max)} (default ${durationText(LINK_DURATION_MS.default)})`,
      1_000,
    ),
  };

  async run(): Promise<void> {
    const { argv, flags, context } = await this.start(DocumentsLink);
    const seconds = Math.round((flags.expires ?? LINK_DURATION_MS.default) / 1_000);
    if (seconds > LINK_DURATION_MS.max / 1_000)
      throw new UsageError('--expires can be at most 7 days, the S3 limit.', {
        hint: 'Use --expires 7d, and send a new link later.',
      });
    const keys = await readIds(argv.map(String), 'storage key', context.terminal);
    const expiresAt = new Date(context.session.clock.now() + seconds * 1_000).toISOString();
    await forEachKey(
      keys,
      async (bucket, word) => {
        const key = await keyFor(word, context);
        // A link to a missing file would be useless.
        await bucket.head(key, context.interrupt.signal);
        return { key, url: await bucket.link(key, seconds), expiresAt };
      },
      ({ url }) => `${url}\n`,
      context,
    );
    if (!context.terminal.json)
      context.terminal.notice(`Anyone with the link can read the file until ${exactTime(expiresAt)}.`);
  }
}

/** Returns the key of an envelope's signed document, or the key itself. */
async function keyFor(word: string, context: Context): Promise<string> {
  if (!/^env_[^/]+$/.test(word)) return word;
  const client = await context.session.client();
  return requireStorageKey(await client.envelopes.get(word, context.interrupt.signal), 'signed');
}
