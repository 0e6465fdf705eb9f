import type { Command } from '@oclif/core/command';
import { CommandHelp, Help } from '@oclif/core/help';
import { exampleLines } from './boot/example-lines.ts';

/** Groups of flags as they are listed; what every command has comes last. */
const GROUPS = [
  ...['SIGNER', 'MAIL', 'WEBHOOK'],
  ...['ADDRESS', 'SIGNATURE', 'FORWARD', 'PACE'],
  ...['FILTER', 'OUTPUT', 'KEY', 'STORAGE', 'GLOBAL'],
];

/** The help of one command: what it is for, how it is called, examples, then the flags in groups. */
class EsignCommandHelp extends CommandHelp {
  /** The flags are listed below; repeating them all here hides the arguments. */
  protected override defaultUsage(): string {
    const args = Object.values(this.command.args).filter((arg) => !arg.hidden);
    const many = this.command.strict === false ? '...' : '';
    const words = args.map((arg) =>
      arg.required ? arg.name.toUpperCase() : `[${arg.name.toUpperCase()}${many}]`,
    );
    const required = Object.entries(this.command.flags).filter(([, flag]) => flag.required === true);
    const flags = required.map(
      ([name, flag]) => `--${name} ${'helpValue' in flag ? String(flag.helpValue) : 'VALUE'}`,
    );
    return [this.command.id, ...words, ...flags, '[FLAGS]'].join(' ');
  }

  /** The summary stands at the top already. */
  protected override description(): string | undefined {
    const { description } = this.command;
    return description === undefined ? undefined : this.wrap(this.render(description));
  }

  protected override examples(examples: Command.Example[] | string | undefined): string | undefined {
    const width = this.opts.maxWidth - this.indentSpacing;
    return [examples ?? []]
      .flat()
      .map((one) => this.render(typeof one === 'string' ? one : one.command))
      .map((command) => exampleLines(`$ ${command}`, width))
      .join('\n');
  }

  protected override groupFlags(flags: Command.Flag.Any[]): ReturnType<CommandHelp['groupFlags']> {
    const { mainFlags, flagGroups } = super.groupFlags(flags);
    const rank = (group: string) => (GROUPS.includes(group) ? GROUPS.indexOf(group) : -1);
    const sorted = Object.entries(flagGroups).sort(([a], [b]) => rank(a) - rank(b));
    return { mainFlags, flagGroups: Object.fromEntries(sorted) };
  }

  protected override sections(): ReturnType<CommandHelp['sections']> {
    const sections = super.sections();
    const order = ['USAGE', 'DESCRIPTION', 'EXAMPLES', 'ARGUMENTS', 'FLAGS'];
    const rank = (header: string) => (order.includes(header) ? order.indexOf(header) : order.length);
    return sections.sort((a, b) => rank(a.header) - rank(b.header));
  }
}

const START = `See it all:       esign demo
Run it here:      esign sandbox start
The real one:     esign profiles add NAME --base-url URL
Send a contract:  esign envelopes create --template ID --signer a@b.c --send
Something fails:  esign doctor`;

/** Help as this tool gives it. */
export default class EsignHelp extends Help {
  protected override CommandHelpClass = EsignCommandHelp;

  override formatRoot(): string {
    // Pages are written at the build: nothing of the machine that built them.
    const root = super.formatRoot().replace(this.config.userAgent, `esign ${this.config.version}`);
    return `${root}\n\n${this.section('START HERE', START)}`;
  }
}
