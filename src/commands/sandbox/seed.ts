import * as Args from '@oclif/core/args';
import { EsignCommand } from '../../cli/command.ts';
import { seedSandbox } from '../../cli/sandbox/seed.ts';

export default class SandboxSeed extends EsignCommand {
  static override summary = 'Put templates, organisations, keys and envelopes of a file into the sandbox.';
  static override description =
    'The file is YAML or JSON; docs/testing.md shows what it may hold. What has the same id is replaced. Envelopes can be in any state; their papers are drawn when they are first asked for. A mistake names its line and field, and then nothing is put in.';
  static override examples = [
    '<%= config.bin %> sandbox seed seed.yaml',
    '<%= config.bin %> sandbox seed seed.json --json',
    'echo "envelopes: [{id: env_1, status: COMPLETED}]" | <%= config.bin %> sandbox seed -',
  ];
  static override args = {
    file: Args.string({
      description: 'YAML or JSON file, or - for stdin',
      required: true,
      ignoreStdin: true,
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SandboxSeed);
    await seedSandbox(args.file, this.context(flags));
  }
}
