import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { rateLimitFlag } from '../../cli/flags.ts';
import { runSandbox } from '../../cli/sandbox/start.ts';

export default class SandboxStart extends EsignCommand {
  static override summary = 'Run the whole e-signature service on this machine: no account needed.';
  static override description =
    'The complete API, an S3-compatible bucket with the papers, webhooks and a clock of its own. Writes a profile `sandbox`, which becomes the current one if there was none. Runs until it is stopped.';
  static override examples = [
    '<%= config.bin %> sandbox start',
    '<%= config.bin %> sandbox start --ephemeral --port 0 --json',
    '<%= config.bin %> sandbox start --data ./sandbox-data --rate-limit 40/3s',
    '<%= config.bin %> sandbox start --ephemeral --seed seed.yaml',
  ];
  static override flags = {
    port: Flags.integer({
      description: 'port of the API; 0 for any free one',
      default: 4010,
      helpValue: 'N',
      min: 0,
      max: 65_535,
    }),
    'bucket-port': Flags.integer({
      description: 'port of the bucket (default 1000 above --port)',
      helpValue: 'N',
      min: 0,
      max: 65_535,
    }),
    host: Flags.string({ description: 'address to bind', default: '127.0.0.1', helpValue: 'ADDRESS' }),
    data: Flags.string({
      description: 'folder to keep the state in',
      helpValue: 'DIR',
      exclusive: ['ephemeral'],
    }),
    ephemeral: Flags.boolean({ description: 'forget everything at the end' }),
    'rate-limit': rateLimitFlag({
      helpGroup: 'SERVICE',
      description: 'requests per window and key (default 10000/15m)',
      helpValue: '40/3s',
    }),
    quota: Flags.integer({
      helpGroup: 'SERVICE',
      description: 'envelopes per month (default: no limit)',
      min: 0,
      helpValue: 'N',
    }),
    choice: Flags.string({
      helpGroup: 'SERVICE',
      description: 'how to read what the API document leaves open; see `sandbox choices`',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'NAME=VALUE',
    }),
    faults: Flags.string({
      aliases: ['fault'],
      helpGroup: 'SERVICE',
      description: 'JSON file with faults; see `sandbox faults`',
      helpValue: 'FILE',
    }),
    seed: Flags.string({
      helpGroup: 'SERVICE',
      description: 'YAML or JSON file with what a new sandbox begins with; see `sandbox seed`',
      helpValue: 'FILE',
    }),
    'save-profile': Flags.boolean({
      description: 'write the profile `sandbox`',
      default: true,
      allowNo: true,
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(SandboxStart);
    await runSandbox(flags, this.context(flags));
  }
}
