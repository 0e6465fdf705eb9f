import { EsignCommand } from '../../cli/command.ts';
import { yesFlag } from '../../cli/flags.ts';
import { confirm } from '../../cli/prompts.ts';
import { UsageError } from '../../kernel/errors.ts';
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
    const around = this.surroundings(flags);
    const sandbox = await around.sandbox();
    const ask = around.terminal.canAsk && !flags.yes;
    if (ask && !(await confirm('Forget every envelope of the sandbox?')))
      throw new UsageError('Not confirmed; nothing was reset.');
    await sandbox.reset(around.signal);
    if (around.json) return writeJson({ reset: true }, around.terminal);
    await around.terminal.out('The sandbox is as new.\n');
  }
}
