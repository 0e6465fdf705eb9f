import type { Command } from '@oclif/core/command';
import { CommandHelp, Help } from '@oclif/core/help';
import { ownValue } from '../kernel/json.ts';
import { wordList } from '../kernel/text/word-list.ts';
import { HELP_TOPICS, SHARED_GROUPS, sharedFlagsLine } from './help-topics.ts';
import { wrapCommand } from './wrap-command.ts';

export { HELP_TOPICS };

/** Flag groups in the order of the help text. */
const GROUPS = wordList(`SIGNER EMAIL FILE WEBHOOK ADDRESS SIGNATURE SEAL SERVICE KEY STORAGE GUARD`);

/** Prints the help of a command: summary, usage, description, examples, arguments, and grouped flags. */
class EsignCommandHelp extends CommandHelp {
  /** Omits the flags, which are listed below and would make the arguments hard to see. */
  protected override defaultUsage(): string {
    const args = Object.values(this.command.args).filter((arg) => !arg.hidden);
    const many = this.command.strict === false ? '...' : '';
    const words = args.map((arg) =>
      arg.required ? `${arg.name.toUpperCase()}${many}` : `[${arg.name.toUpperCase()}${many}]`,
    );
    const required = Object.entries(this.command.flags).filter(([, flag]) => flag.required === true);
    const flags = required.map(
      ([name, flag]) => `--${name} ${'helpValue' in flag ? String(flag.helpValue) : 'VALUE'}`,
    );
    return [this.command.id, ...words, ...flags, '[FLAGS]'].join(' ');
  }

  /** Omits the summary, which is already the first line of the help. */
  protected override description(): string | undefined {
    const { description } = this.command;
    return description === undefined ? undefined : this.wrap(this.render(description));
  }

  protected override examples(examples: Command.Example[] | string | undefined): string | undefined {
    const width = this.opts.maxWidth - this.indentSpacing;
    return [examples ?? []]
      .flat()
      .map((one) => this.render(typeof one === 'string' ? one : one.command))
      .map((command) => wrapCommand(`$ ${command}`, width))
      .join('\n');
  }

  /** Leaves out the flags that many commands share. */
  protected override groupFlags(flags: Command.Flag.Any[]): ReturnType<CommandHelp['groupFlags']> {
    const own = flags.filter(({ helpGroup = '' }) => !SHARED_GROUPS.includes(helpGroup));
    const { mainFlags, flagGroups } = super.groupFlags(own.map(withDefault));
    const rank = (group: string) => (GROUPS.includes(group) ? GROUPS.indexOf(group) : -1);
    const sorted = Object.entries(flagGroups).sort(([a], [b]) => rank(a) - rank(b));
    return { mainFlags, flagGroups: Object.fromEntries(sorted) };
  }

  protected override sections(): ReturnType<CommandHelp['sections']> {
    const sections = super.sections();
    const order = ['USAGE', 'DESCRIPTION', 'EXAMPLES', 'ARGUMENTS', 'FLAGS'];
    const rank = (header: string) => (order.includes(header) ? order.indexOf(header) : order.length);
    const shared = () => this.wrap(sharedFlagsLine(Object.values(this.command.flags)));
    return [
      ...sections.sort((a, b) => rank(a.header) - rank(b.header)),
      { header: 'SHARED FLAGS', generate: shared },
    ];
  }

  /** Returns the rows of the flags in a group. */
  rowsOf(group: string): string {
    const all = Object.values(this.command.flags);
    const flags = all.filter(({ helpGroup }) => helpGroup === group).map(withDefault);
    const [, ...rows] = this.section('', this.flags(flags.sort(shortFirst)) ?? []).split('\n');
    return rows.join('\n');
  }
}

/** Sorts flags by name, those with a letter first. */
function shortFirst(a: Command.Flag.Any, b: Command.Flag.Any): number {
  const rank = ({ char, name }: Command.Flag.Any) => `${char === undefined ? 1 : 0}${name}`;
  return rank(a) < rank(b) ? -1 : 1;
}

/** Moves the default to the end of the description, where it is for all other flags. */
function withDefault(flag: Command.Flag.Any): Command.Flag.Any {
  if (flag.type !== 'option' || flag.default === undefined) return flag;
  const preset = String(flag.default);
  const shown = preset.includes(' ') ? `"${preset}"` : preset;
  return { ...flag, default: undefined, description: `${flag.description} (default ${shown})` };
}

/** The help of the program, which fits on a terminal with 24 lines. */
const ROOT = `Send documents for signature, follow up, and download the signed PDFs.

EVERY DAY
  demo       see it all work, in about 10 seconds and without an account
  templates  see what you can send
  envelopes  create, send, get, remind, replace, cancel, watch, and download
  bulk       send one envelope for each row of an Excel or CSV file
  find       look up a person, an address, or a number
  late       see who is overdue
  listen     receive webhooks on this machine
  doctor     check your setup
  profiles   add, show, and select accounts

MORE
  report, log          what needs attention; what was sent from this machine
  sandbox, events      a private copy of the service; received webhooks
  documents, api       verify PDFs offline; call the API directly
  mcp, autocomplete    an MCP server for AI assistants; Tab completion

Use your account:  esign profiles add
Help:              esign COMMAND --help
                   esign help ${Object.keys(HELP_TOPICS).join('|')}`;

/** Prints the help of the program, of a command, or of a topic. */
export default class EsignHelp extends Help {
  protected override CommandHelpClass = EsignCommandHelp;

  override async showHelp(words: string[]): Promise<void> {
    const page = ownValue(HELP_TOPICS, words.find((word) => !word.startsWith('-')) ?? '');
    if (page === undefined) return super.showHelp(words);
    // `find` has all the flags that commands share.
    const find = this.config.findCommand('find', { must: true });
    const shared = new EsignCommandHelp(find, this.config, this.opts);
    this.log(page((group) => shared.rowsOf(group)));
  }

  override showRootHelp(): Promise<void> {
    return Promise.resolve(this.log(ROOT));
  }
}
