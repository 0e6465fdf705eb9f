import { EsignCommand } from '../../cli/command.ts';
import { yesFlag } from '../../cli/flags.ts';
import { confirmed } from '../../cli/input/confirm.ts';
import { writeJson } from '../../output/json.ts';

export default class SandboxReset extends EsignCommand {
  static override summary = 'Make the sandbox as new: no envelopes, the clock back; its key stays.';
  static override examples = [
    '<%= config.bin %> sandbox reset',
    '<%= config.bin %> sandbox reset --yes',
    '<%= config.bin %> sandbox reset --yes --json',
  ];
  static override flags = { yes: yesFlag };

  async run(): Promise<void> {
    const { flags } = await this.parse(SandboxReset);
    const context = this.context(flags);
    const sandbox = await context.sandbox();
    const question = 'Forget every envelope of the sandbox?';
    await confirmed(question, { yes: flags.yes, otherwise: 'nothing was reset' }, context);
    await sandbox.reset(context.signal);
    if (context.json) return writeJson({ reset: true }, context.terminal);
    await context.terminal.out('The sandbox is as new.\n');
  }
}
