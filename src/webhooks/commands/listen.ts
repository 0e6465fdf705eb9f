import { EsignCommand } from '../../cli/command.ts';
import { listenFlags } from './listen-flags.ts';
import { listenUntilStopped } from './run-listener.ts';

export default class Listen extends EsignCommand {
  static override summary = 'Receive webhooks on this machine, verify their signatures, and print them.';
  static override description =
    'Deliveries with a valid signature get a 200 response, others a 401. The reason is printed locally and never sent to the sender. Secrets are read from --secret-file, from ESIGN_WEBHOOK_SECRET, and from those that `envelopes create --webhook-url` stored.';
  static override examples = [
    '<%= config.bin %> listen',
    '<%= config.bin %> listen --secret-file new.secret --secret-file old.secret --port 8080 --path /hooks',
    '<%= config.bin %> listen --forward-to http://localhost:3000/webhooks',
    "<%= config.bin %> listen --tunnel 'cloudflared tunnel --url {url}'",
    '<%= config.bin %> listen --inspect --download documents',
    '<%= config.bin %> listen --secret-file webhook.secret --health-port 4243',
    '<%= config.bin %> listen --no-verify --events envelope.completed --json | jq .envelopeId',
  ];
  static override flags = listenFlags;

  async run(): Promise<void> {
    const { flags } = await this.parse(Listen);
    await listenUntilStopped(flags, this.context({ ...flags, neverBlocks: true }));
  }
}
