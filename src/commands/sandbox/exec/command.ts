import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { repeatableFlags } from '../repeatable.ts';
import { runInSandbox } from './run.ts';

export default class SandboxExec extends EsignCommand {
  static override summary = 'Run a command, such as your tests, with a temporary sandbox.';
  static override description =
    "The command's environment has ESIGN_BASE_URL, ESIGN_API_KEY, ESIGN_SANDBOX_URL, ESIGN_BUCKET, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL_S3, and AWS_REGION, but no other settings for the service or the bucket. Exits with the command's exit code and deletes the sandbox. Processes that the command left running are stopped, except on a terminal.";
  static override examples = [
    '<%= config.bin %> sandbox exec -- npm test',
    '<%= config.bin %> sandbox exec --seed seed.yaml -- pytest -q',
    `<%= config.bin %> sandbox exec -- sh -c 'curl "$ESIGN_SANDBOX_URL"'`,
  ];
  static override strict = false;
  static override args = {
    command: Args.string({
      description: 'command to run, with its arguments',
      required: true,
      ignoreStdin: true,
    }),
  };
  static override flags = {
    ...repeatableFlags,
    seed: Flags.string({
      description: 'YAML or JSON file with the initial data',
      helpValue: 'FILE',
    }),
  };

  async run(): Promise<void> {
    const { raw, flags } = await this.parse(SandboxExec);
    // oclif's own list is in a different order if a word is repeated.
    const command = raw.flatMap(({ type, input }) => (type === 'arg' ? [input] : []));
    await runInSandbox(command, flags, this.context(flags));
  }
}
