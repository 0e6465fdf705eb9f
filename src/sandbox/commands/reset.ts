import { EsignCommand } from '../../cli/command.ts';
import { writeDryRun } from '../../cli/dry-run.ts';
import { dryRunFlag, yesFlag } from '../../cli/flags.ts';
import { requireConfirmation } from '../../cli/input/confirm.ts';
import { writeJson } from '../../output/json.ts';

export default class SandboxReset extends EsignCommand {
  static override summary = 'Reset the sandbox. Envelopes and the clock are reset; the API key is kept.';
  static override examples = [
    '<%= config.bin %> sandbox reset',
    '<%= config.bin %> sandbox reset --yes',
    '<%= config.bin %> sandbox reset --yes --json',
  ];
  static override flags = { yes: yesFlag, 'dry-run': dryRunFlag };

  async run(): Promise<void> {
    const { flags, context } = await this.start(SandboxReset);
    const sandbox = await context.session.sandbox();
    if (flags['dry-run']) {
      // Fails as the reset would if no sandbox responds.
      await sandbox.status();
      return writeDryRun([await context.session.baseUrl()], 'reset', context.terminal);
    }
    const question = 'Delete all envelopes in the sandbox?';
    await requireConfirmation(question, { yes: flags.yes, otherwise: 'nothing was reset' }, context);
    await sandbox.reset();
    (await context.session.indexedAccount())?.writer.clear();
    if (context.terminal.json) return writeJson({ reset: true }, context.terminal);
    await context.terminal.out('The sandbox was reset.\n');
  }
}
