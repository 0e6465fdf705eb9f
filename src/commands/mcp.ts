import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../cli/command.ts';
import { serveMcp } from '../cli/mcp/serve.ts';

export default class Mcp extends EsignCommand {
  static override summary = 'Answer an assistant: a Model Context Protocol server on stdin and stdout.';
  static override description =
    'An assistant starts it (docs/assistants.md); it uses the key of the profile and can only look: find, get, list, summary, history, templates, verify, and download into a folder. With --allow-write it can also create, send, remind, cancel and replace: each is first shown with dryRun, and done only with the confirmation that this gave. Secrets and presigned links are in no answer.';
  static override examples = [
    '<%= config.bin %> mcp --profile acme',
    '<%= config.bin %> mcp --profile acme --allow-write',
    '<%= config.bin %> mcp --profile sandbox --allow-write --debug',
  ];
  static override flags = {
    'allow-write': Flags.boolean({
      description: 'also create, send, remind, cancel and replace, each confirmed',
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Mcp);
    // Nobody is asked and nothing moves: stdin and stdout belong to the protocol.
    const context = this.context({ ...flags, json: true, 'no-input': true });
    await serveMcp({ version: this.config.version, allowWrite: flags['allow-write'] }, context);
  }
}
