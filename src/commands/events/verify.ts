import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { requiredArg, textFlag } from '../../cli/flags.ts';
import { readBytes } from '../../cli/input/files.ts';
import { requireWebhookSecret } from '../../cli/input/secrets.ts';
import { VerificationError } from '../../kernel/errors.ts';
import { writeJson } from '../../output/json.ts';
import { explainMismatch } from '../../webhooks/receive/explain.ts';
import { checkSignature } from '../../webhooks/receive/signature.ts';

export default class EventsVerify extends EsignCommand {
  static override summary = 'Verify the signature of a webhook body. If it is invalid, explain why.';
  static override description = 'Exits with 0 if the signature is valid, and with 9 if not.';
  static override examples = [
    '<%= config.bin %> events verify body.json --signature 5d41… --secret-file webhook.secret',
    'cat body.json | <%= config.bin %> events verify - --signature sha256=5d41…',
    '<%= config.bin %> events verify body.json --signature 5d41… --json',
  ];
  static override args = {
    file: requiredArg('file with the raw body, or `-` for stdin'),
  };
  static override flags = {
    signature: Flags.string({
      description: 'value of the signature header',
      required: true,
      helpValue: 'HEX',
    }),
    'secret-file': textFlag('FILE', 'file with the webhook secret (or set ESIGN_WEBHOOK_SECRET)'),
  };

  async run(): Promise<void> {
    const { args, flags, terminal } = await this.start(EventsVerify);
    const secret = await requireWebhookSecret(flags['secret-file'], terminal);
    const raw = await readBytes(args.file, 'body');
    const check = checkSignature(raw, flags.signature, [secret]);
    if (!check.ok) {
      const known = { secrets: [secret], others: [] };
      throw new VerificationError(
        `Invalid signature: ${check.failure === 'mismatch' ? explainMismatch(raw, flags.signature, known) : check.reason}.`,
      );
    }
    if (terminal.json) return writeJson({ verified: true }, terminal);
    await terminal.out('good\n');
  }
}
