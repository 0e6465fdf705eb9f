import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { chosenSource, seedSandbox, seedStandIns } from './run.ts';

export default class SandboxSeed extends EsignCommand {
  static override summary =
    'Load templates, organizations, keys, and envelopes into the sandbox from a file.';
  static override description =
    "The file is YAML or JSON; see docs/testing.md for its format. Existing items with the same ID are replaced. Envelopes can have any status. If the file has an error, its line and field are shown and nothing is loaded. With --from, loads stand-ins for an account's templates: the same names, roles, and fields, on pages marked STAND-IN. No envelopes or signer data are copied.";
  static override examples = [
    '<%= config.bin %> sandbox seed seed.yaml',
    '<%= config.bin %> sandbox seed seed.json --json',
    '<%= config.bin %> sandbox seed --from production --out templates.json',
    'echo "envelopes: [{id: env_1, status: COMPLETED}]" | <%= config.bin %> sandbox seed -',
  ];
  static override args = {
    file: Args.string({
      description: 'YAML or JSON file, or `-` for stdin',
      ignoreStdin: true,
    }),
  };
  static override flags = {
    from: Flags.string({
      description: "load stand-ins for the active templates of this profile's account (read-only)",
      helpValue: 'PROFILE',
    }),
    out: Flags.string({
      description: 'write the stand-ins to a seed file instead; `-` for stdout',
      dependsOn: ['from'],
      helpValue: 'FILE',
    }),
    force: Flags.boolean({ description: 'replace an existing FILE', dependsOn: ['out'] }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SandboxSeed);
    const source = chosenSource(args.file, flags.from);
    const context = this.context(flags);
    if ('file' in source) return seedSandbox(source.file, context);
    await seedStandIns(source.profile, flags, context);
  }
}
