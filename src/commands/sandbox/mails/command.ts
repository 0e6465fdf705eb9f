import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { durationFlag, formatFlags } from '../../../cli/flags.ts';
import { writeList } from '../../../output/list.ts';
import { mailList, readMails, renderMails } from './run.ts';

export default class SandboxMails extends EsignCommand {
  static override summary = 'List the emails that the sandbox has sent, with their signing links.';
  static override examples = [
    '<%= config.bin %> sandbox mails',
    '<%= config.bin %> sandbox mails --to ada@example.com --wait 5s --json',
    '<%= config.bin %> sandbox mails --envelope env_123 --fields link',
  ];
  static override flags = {
    to: Flags.string({ description: 'only emails to this address', helpValue: 'EMAIL' }),
    envelope: Flags.string({ description: 'only emails about this envelope', helpValue: 'ID' }),
    wait: durationFlag({
      description: 'maximum time to wait for the first email; exits with 124 if none arrives',
      helpValue: '5s',
    }),
    ...formatFlags,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(SandboxMails);
    const { terminal, session } = this.context(flags);
    const mails = await readMails(flags, await session.sandbox());
    const { json } = terminal;
    const isForPerson =
      terminal.outIsTty && !json && !flags.csv && !flags.quiet && flags.fields === undefined;
    if (isForPerson && mails.length > 0) return terminal.out(renderMails(mails, terminal, session.now()));
    await writeList(mails, mailList(session.now()), flags, terminal);
  }
}
