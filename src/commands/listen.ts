import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../cli/command.ts';
import { durationFlag, statusesFlag } from '../cli/flags.ts';
import { listenUntilStopped } from '../cli/webhooks/listen.ts';
import { readDuration } from '../kernel/duration-input.ts';
import { SIGNATURE_HEADER } from '../kernel/vocabulary.ts';

export default class Listen extends EsignCommand {
  static override summary = 'Receive webhooks on this machine, verify them, and show them as they arrive.';
  static override description =
    'A delivery with a good signature is answered 200; a bad or missing one 401, and why is told here, never to the sender. The secret comes from files, ESIGN_WEBHOOK_SECRET or a prompt.';
  static override examples = [
    '<%= config.bin %> listen --secret-file webhook.secret',
    '<%= config.bin %> listen --secret-file new.secret --secret-file old.secret --port 8080 --path /hooks',
    '<%= config.bin %> listen --forward-to http://localhost:3000/webhooks',
    "<%= config.bin %> listen --tunnel 'cloudflared tunnel --url {url}'",
    '<%= config.bin %> listen --inspect',
    '<%= config.bin %> listen --secret-file webhook.secret --health-port 4243',
    '<%= config.bin %> listen --envelope env_123 --until COMPLETED --timeout 2h --download papers',
    '<%= config.bin %> listen --no-verify --events envelope.completed --json | jq .envelopeId',
  ];
  static override flags = {
    port: Flags.integer({
      description: 'port to listen on; 0 for any free one',
      default: 4242,
      min: 0,
      max: 65_535,
      helpValue: 'N',
      helpGroup: 'ADDRESS',
    }),
    host: Flags.string({
      description: 'address to bind',
      default: '127.0.0.1',
      helpValue: 'ADDRESS',
      helpGroup: 'ADDRESS',
    }),
    path: Flags.string({
      description: 'path to receive at',
      default: '/webhooks',
      helpValue: '/PATH',
      helpGroup: 'ADDRESS',
    }),
    'secret-file': Flags.string({
      description: 'file with the secret; repeat while you rotate',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'FILE',
      helpGroup: 'SIGNATURE',
    }),
    'signature-header': Flags.string({
      description: 'header with the signature',
      default: SIGNATURE_HEADER,
      helpValue: 'NAME',
      helpGroup: 'SIGNATURE',
    }),
    events: Flags.string({ description: 'show only these events', helpValue: 'A,B' }),
    'forward-to': Flags.string({
      description:
        'pass good deliveries on to this address, byte for byte; repeat for more; localhost:3000/path will do',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'URL',
      helpGroup: 'FORWARD',
    }),
    'forward-timeout': durationFlag({
      description: 'how long the forwarded one may take to answer (default 30s)',
      helpValue: '30s',
      helpGroup: 'FORWARD',
    }),
    drain: durationFlag({
      description: 'how long to go on forwarding when stopped (default 10s)',
      helpValue: '10s',
      helpGroup: 'FORWARD',
    }),
    exec: Flags.string({
      description: 'run this for each new delivery, with its JSON on stdin',
      helpValue: 'CMD',
    }),
    envelope: Flags.string({
      description: 'end when this envelope has got where --until says',
      helpValue: 'ID',
      helpGroup: 'WAIT',
    }),
    until: statusesFlag({
      description: 'statuses to wait for (default COMPLETED)',
      helpValue: 'A,B',
      helpGroup: 'WAIT',
      dependsOn: ['envelope'],
    }),
    timeout: Flags.string({
      description:
        'with --envelope how long to wait for it, such as 2h (default: for ever); else how long a request may take (default 30s)',
      helpValue: '2h',
      helpGroup: 'WAIT',
    }),
    download: Flags.string({
      description: 'fetch the papers of completed envelopes into this folder',
      helpValue: 'DIR',
    }),
    tunnel: Flags.string({
      description: 'start this to be reachable from outside; {port} and {url} stand for where it listens',
      helpValue: 'CMD',
    }),
    keep: durationFlag({
      description: 'remove received webhooks that are older, now and daily; without it all are kept',
      helpValue: '30d',
      least: 86_400_000,
    }),
    inspect: Flags.boolean({
      description: 'show deliveries on a local web page, live; prints its link',
    }),
    'inspect-port': Flags.integer({
      description: 'port of that page (default: any free one)',
      min: 0,
      max: 65_535,
      dependsOn: ['inspect'],
      helpValue: 'N',
    }),
    'health-port': Flags.integer({
      description: 'answer monitors there: /healthz and /metrics; 0 for any free one',
      min: 0,
      max: 65_535,
      helpValue: 'N',
    }),
    verify: Flags.boolean({
      description: 'check signatures; --no-verify takes everything',
      default: true,
      allowNo: true,
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Listen);
    // Here --timeout is how long to wait, not how long a request may take.
    const { timeout, ...rest } = flags;
    const wait = timeout === undefined ? undefined : readDuration(timeout, '--timeout', 1);
    const request = flags.envelope === undefined ? { timeout } : {};
    await listenUntilStopped({ ...rest, wait }, this.context({ ...rest, ...request }));
  }
}
