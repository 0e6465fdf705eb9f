import { EsignCommand } from '../../cli/command.ts';
import { writeJson } from '../../output/json.ts';
import { newWebhookSecret } from '../../profiles/webhook-secrets.ts';

export default class EventsSecret extends EsignCommand {
  static override summary = 'Generate a webhook secret and print it. It is not stored.';
  static override examples = [
    '(umask 077; <%= config.bin %> events secret > webhook.secret)',
    '<%= config.bin %> events secret --json | jq -r .secret',
    'ESIGN_WEBHOOK_SECRET=$(<%= config.bin %> events secret)',
  ];

  async run(): Promise<void> {
    const { terminal } = await this.start(EventsSecret);
    const { json } = terminal;
    const secret = newWebhookSecret();
    await (json ? writeJson({ secret }, terminal) : terminal.out(`${secret}\n`));
  }
}
