import { allFlag, idsOrRun, runFlag } from '../../catalog/commands/selection-flags.ts';
import { EsignCommand } from '../../cli/command.ts';
import { confirmFlag, dryRunFlag, durationFlag, textFlag, yesFlag } from '../../cli/flags.ts';
import { IN_FLIGHT } from '../../kernel/vocabulary.ts';
import { notToRemind } from '../left-out.ts';
import { remindAction } from '../plan-writes.ts';
import { type ActCommand, act } from './act-on-envelopes.ts';

export default class EnvelopesRemind extends EsignCommand {
  static override summary = 'Send a reminder to signers who have not signed yet.';
  static override examples = [
    '<%= config.bin %> envelopes remind env_123',
    '<%= config.bin %> envelopes remind env_123 --signer ada@example.com',
    '<%= config.bin %> envelopes remind --all --min-gap 24h --yes',
    '<%= config.bin %> envelopes list --status SENT --older-than 7d --all -q | <%= config.bin %> envelopes remind - --min-gap 24h --yes',
    '<%= config.bin %> envelopes remind --run last --min-gap 24h',
  ];
  static override strict = false;
  static override args = idsOrRun;
  static override flags = {
    signer: textFlag('ID|EMAIL', 'signer to remind (default: everyone whose signature is pending)'),
    'min-gap': durationFlag('24h', 'skip signers who were reminded from this machine within this time'),
    ...runFlag,
    all: allFlag('remind about all envelopes that are SENT or IN_PROGRESS'),
    yes: yesFlag,
    confirm: confirmFlag,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesRemind);
    const { signer, 'min-gap': gapMs } = flags;
    // --min-gap already decides which reminders are too soon.
    const options = { gapMs: gapMs ?? 0, reportsRecent: gapMs === undefined };
    const one = signer === undefined ? undefined : [signer];
    const command: ActCommand = {
      words: argv.map(String),
      flags,
      selection: { leaveOut: (envelopes) => notToRemind(envelopes, signer), all: IN_FLIGHT },
      actionOf: (means, signers) =>
        remindAction(means, { ...options, signersOf: (id) => one ?? signers.get(id) }),
      confirming: { question: 'Send another reminder?', otherwise: 'nothing was sent' },
    };
    await act(command, this.context(flags));
  }
}
