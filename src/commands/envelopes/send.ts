import { EsignCommand } from '../../cli/command.ts';
import { confirmFlag, dryRunFlag, missingRolesFlag, yesFlag } from '../../cli/flags.ts';
import { idsOrFilters, selectionFlags } from '../../cli/selection/flags.ts';
import { sendDrafts } from './act.ts';

export default class EnvelopesSend extends EsignCommand {
  static override summary = 'Send drafts to their signers.';
  static override examples = [
    '<%= config.bin %> envelopes send env_123',
    '<%= config.bin %> envelopes send env_123 env_456 --yes',
    '<%= config.bin %> envelopes list --status DRAFT --all -q | <%= config.bin %> envelopes send - --yes',
    '<%= config.bin %> envelopes send --run last',
  ];
  static override strict = false;
  static override args = idsOrFilters;
  static override flags = {
    'allow-missing-roles': missingRolesFlag,
    ...selectionFlags,
    yes: yesFlag,
    confirm: confirmFlag,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesSend);
    await sendDrafts(argv.map(String), flags, this.context(flags));
  }
}
