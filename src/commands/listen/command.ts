import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { durationFlag, inGroup, statusesFlag } from '../../cli/flags.ts';
import { readDuration } from '../../kernel/duration-input.ts';
import { SIGNATURE_HEADER } from '../../kernel/vocabulary.ts';
import { LISTEN } from '../../webhooks/defaults.ts';
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
  static override flags = {
    ...inGroup('ADDRESS', {
      port: Flags.integer({
        description: 'port to listen on; 0 for any free port',
        default: LISTEN.port,
        min: 0,
        max: 65_535,
        helpValue: 'N',
      }),
      host: Flags.string({ description: 'address to bind', default: LISTEN.host, helpValue: 'ADDRESS' }),
      path: Flags.string({
        description: 'path to receive webhooks at',
        default: LISTEN.path,
        helpValue: '/PATH',
      }),
    }),
    ...inGroup('SIGNATURE', {
      'secret-file': Flags.string({
        description: 'file with the webhook secret; can be repeated, for rotation',
        multiple: true,
        multipleNonGreedy: true,
        helpValue: 'FILE',
      }),
      'signature-header': Flags.string({
        description: 'header that contains the signature',
        default: SIGNATURE_HEADER,
        helpValue: 'NAME',
      }),
    }),
    events: Flags.string({ description: 'print only these events', helpValue: 'A,B' }),
    ...inGroup('FORWARD', {
      'forward-to': Flags.string({
        description:
          'forward valid deliveries to this URL, byte for byte; can be repeated (localhost:3000/path also works)',
        multiple: true,
        multipleNonGreedy: true,
        helpValue: 'URL',
      }),
      'forward-timeout': durationFlag({
        description: 'how long the forward URL may take to respond (default 30s)',
        helpValue: '30s',
      }),
      drain: durationFlag({
        description: 'how long to continue forwarding after being stopped (default 10s)',
        helpValue: '10s',
      }),
    }),
    exec: Flags.string({
      description: 'command to run for each new delivery; it gets the delivery as JSON on stdin',
      helpValue: 'CMD',
    }),
    ...inGroup('WAIT', {
      envelope: Flags.string({
        description: 'exit when this envelope reaches one of the --until statuses',
        helpValue: 'ID',
      }),
      until: statusesFlag({
        description: 'statuses to wait for (default COMPLETED)',
        helpValue: 'A,B',
        dependsOn: ['envelope'],
      }),
      timeout: Flags.string({
        description:
          'with --envelope: how long to wait, such as 2h (default: no limit); otherwise: how long a request may take (default 30s)',
        helpValue: '2h',
      }),
    }),
    download: Flags.string({
      description: 'download the documents of completed envelopes into this folder',
      helpValue: 'DIR',
    }),
    tunnel: Flags.string({
      description:
        'tunnel command that makes the listener reachable from outside; {port} and {url} are replaced',
      helpValue: 'CMD',
    }),
    keep: durationFlag({
      description: 'delete received webhooks older than this, now and once a day (default: keep all)',
      helpValue: '30d',
      least: 86_400_000,
    }),
    inspect: Flags.boolean({
      description: 'show deliveries live on a local web page, and print its link',
    }),
    'inspect-port': Flags.integer({
      description: 'port for the --inspect page (default: any free port)',
      min: 0,
      max: 65_535,
      dependsOn: ['inspect'],
      helpValue: 'N',
    }),
    'health-port': Flags.integer({
      description: 'port for /healthz and /metrics; 0 for any free port',
      min: 0,
      max: 65_535,
      helpValue: 'N',
    }),
    verify: Flags.boolean({
      description: 'check signatures; --no-verify accepts everything',
      default: true,
      allowNo: true,
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Listen);
    // With --envelope, --timeout is the time to wait rather than the time limit of a request.
    const { timeout, ...rest } = flags;
    const wait = timeout === undefined ? undefined : readDuration(timeout, '--timeout', 1);
    const request = flags.envelope === undefined ? { timeout } : {};
    await listenUntilStopped({ ...rest, wait }, this.context({ ...rest, ...request, neverBlocks: true }));
  }
}
