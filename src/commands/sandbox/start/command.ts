import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { inGroup, rateLimitFlag } from '../../../cli/flags.ts';
import { repeatableFlags } from '../repeatable.ts';
import { runSandbox } from './run.ts';

export default class SandboxStart extends EsignCommand {
  static override summary = 'Run the complete e-signature service on this machine. No account needed.';
  static override description =
    'Runs the complete API, an S3-compatible bucket for the documents, webhooks, and its own clock, until you stop it. Adds a `sandbox` profile, which becomes the current one if you have none.';
  static override examples = [
    '<%= config.bin %> sandbox start',
    '<%= config.bin %> sandbox start --ephemeral --port 0 --json',
    '<%= config.bin %> sandbox start --data ./sandbox-data --rate-limit 40/3s',
    '<%= config.bin %> sandbox start --ephemeral --seed seed.yaml',
    '<%= config.bin %> sandbox start --ephemeral --like production',
  ];
  static override flags = {
    port: Flags.integer({
      description: 'API port; 0 for any free port',
      default: 4010,
      helpValue: 'N',
      min: 0,
      max: 65_535,
    }),
    'bucket-port': Flags.integer({
      description: 'bucket port (default: --port plus 1000)',
      helpValue: 'N',
      min: 0,
      max: 65_535,
    }),
    host: Flags.string({ description: 'address to bind', default: '127.0.0.1', helpValue: 'ADDRESS' }),
    data: Flags.string({
      description: 'folder to store the state in',
      helpValue: 'DIR',
      exclusive: ['ephemeral'],
    }),
    ephemeral: Flags.boolean({ description: 'delete everything on exit' }),
    ...inGroup('SERVICE', {
      'rate-limit': rateLimitFlag({
        description: 'requests per key and time window (default 10000/15m)',
        helpValue: '40/3s',
      }),
      quota: Flags.integer({
        description: 'envelopes per month (default: no limit)',
        min: 0,
        helpValue: 'N',
      }),
      choice: Flags.string({
        description: 'behavior where the API document is ambiguous; can be repeated; see `sandbox choices`',
        multiple: true,
        multipleNonGreedy: true,
        helpValue: 'NAME=VALUE',
      }),
      choices: Flags.string({
        description: 'JSON file with choices; --choice takes precedence; see `esign compat --choices`',
        helpValue: 'FILE',
      }),
      faults: Flags.string({
        aliases: ['fault'],
        description: 'JSON file with faults to inject; see `sandbox faults`',
        helpValue: 'FILE',
      }),
      seed: Flags.string({
        description: 'YAML or JSON file with the initial data; see `sandbox seed`',
        helpValue: 'FILE',
      }),
      like: Flags.string({
        description: "start with stand-ins for the active templates of this profile's account (read-only)",
        exclusive: ['seed'],
        helpValue: 'PROFILE',
      }),
    }),
    ...repeatableFlags,
    'save-profile': Flags.boolean({
      description: 'add or update the `sandbox` profile',
      default: true,
      allowNo: true,
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(SandboxStart);
    await runSandbox(flags, this.context(flags));
  }
}
