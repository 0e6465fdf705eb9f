import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { serveMcp } from './serve.ts';

export default class Mcp extends EsignCommand {
  static override summary = 'Start an MCP (Model Context Protocol) server for AI assistants, on stdio.';
  static override description =
    "AI assistants start this command themselves (see docs/assistants.md). It uses the profile's key and is read-only: find, get, list, summary, history, templates, verify, and download into a folder. With --allow-write, it can also create, send, remind, cancel, and replace. Each of these requires a dryRun call first, and the confirmation it returns. Results never contain secrets or presigned links.";
  static override examples = [
    '<%= config.bin %> mcp --profile acme',
    '<%= config.bin %> mcp --profile acme --allow-write',
    '<%= config.bin %> mcp --profile sandbox --allow-write --debug',
  ];
  static override flags = {
    'allow-write': Flags.boolean({
      description: 'also allow create, send, remind, cancel, and replace; each requires a confirmation',
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Mcp);
    // No prompts and no live updates, because stdin and stdout carry the protocol.
    const context = this.context({ ...flags, json: true, 'no-input': true });
    await serveMcp({ version: this.config.version, allowWrite: flags['allow-write'] }, context);
  }
}
