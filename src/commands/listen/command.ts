import { EsignCommand } from '../../cli/command.ts';
import { readDuration } from '../../kernel/duration-input.ts';
import { listenFlags } from './flags.ts';
import { listenUntilStopped } from './run.ts';

export default class Listen extends EsignCommand {
  static override summary = 'Receive webhooks on this machine, verify their signatures, and print them.';
  static override description =
    'Deliveries with a valid signature get a 200 response, others a 401. The reason is printed locally and never sent to the sender. The secret is read from files, ESIGN_WEBHOOK_SECRET, or a prompt.';
  static override examples = [
    '<%= config.bin %> listen --secret-file webhook.secret',
    '<%= config.bin %> listen --secret-file new.secret --secret-file old.secret --port 8080 --path /hooks',
    '<%= config.bin %> listen --forward-to http://localhost:3000/webhooks',
    "<%= config.bin %> listen --tunnel 'cloudflared tunnel --url {url}'",
    '<%= config.bin %> listen --inspect',
    '<%= config.bin %> listen --secret-file webhook.secret --health-port 4243',
    '<%= config.bin %> listen --envelope env_123 --until COMPLETED --timeout 2h --download documents',
    '<%= config.bin %> listen --no-verify --events envelope.completed --json | jq .envelopeId',
  ];
  static override flags = listenFlags;

  async run(): Promise<void> {
    const { flags } = await this.parse(Listen);
    // With --envelope, --timeout is the time to wait rather than the time limit of a request.
    const { timeout, ...rest } = flags;
    const wait = timeout === undefined ? undefined : readDuration(timeout, '--timeout', 1);
    const request = flags.envelope === undefined ? { timeout } : {};
    await listenUntilStopped({ ...rest, wait }, this.context({ ...rest, ...request, neverBlocks: true }));
  }
}
