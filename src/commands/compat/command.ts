import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { runCompat } from './run.ts';

export default class Compat extends EsignCommand {
  static override summary = 'Show where the service differs from its API document.';
  static override description =
    'Every command compares the responses and verified webhooks it receives with the API document. Only their shapes are stored: property names, types, statuses, and header names. This command sends no request. Exits with 10 if a response contradicts the API document, unless you pass --share or --choices.';
  static override examples = [
    '<%= config.bin %> compat',
    '<%= config.bin %> compat --json | jq ".contradictions[].what"',
    '<%= config.bin %> compat --share report.md',
    '<%= config.bin %> compat --choices choices.json',
  ];
  static override flags = {
    share: Flags.string({
      description: 'write the report to a file, without IDs or host names; Markdown if it ends in .md',
      helpValue: 'FILE',
    }),
    choices: Flags.string({
      description: 'write the observed open points to a file for `sandbox start --choices`',
      helpValue: 'FILE',
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Compat);
    await runCompat(flags, this.context(flags));
  }
}
