import * as Args from '@oclif/core/args';
import { EsignCommand } from '../../../cli/command.ts';
import { seedSandbox } from './run.ts';

export default class SandboxSeed extends EsignCommand {
  static override summary =
    'Load templates, organizations, keys, and envelopes from a file into the sandbox.';
  static override description =
    'The file is YAML or JSON; see docs/testing.md for its format. Existing items with the same ID are replaced. Envelopes can have any status. If the file has an error, its line and field are shown and nothing is loaded.';
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
