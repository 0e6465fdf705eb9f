import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { durationFlag, formatFlags } from '../../cli/flags.ts';
import { mailList, readMails } from '../../cli/sandbox/mails.ts';
import { writeList } from '../../output/list.ts';

export default class SandboxMails extends EsignCommand {
  static override summary = 'List the mails the sandbox has sent, with the link to the signing page.';
  static override examples = [
    '<%= config.bin %> sandbox mails',
    '<%= config.bin %> sandbox mails --to ada@example.com --wait 5s --json',
    '<%= config.bin %> sandbox mails --envelope env_123 --fields link',
  ];
  static override flags = {
    to: Flags.string({ description: 'only to this address', helpValue: 'EMAIL' }),
    envelope: Flags.string({ description: 'only about this envelope', helpValue: 'ID' }),
    wait: durationFlag({
      description: 'wait so long for the first one; with exit code 124 when none comes',
      helpValue: '5s',
    }),
    ...formatFlags,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(SandboxMails);
    const context = this.context(flags);
    const mails = await readMails(flags, context);
    await writeList(mails, mailList(context.now()), flags, context.terminal);
  }
}
