import type { Command } from '@oclif/core/command';
import { CommandHelp, Help } from '@oclif/core/help';
import { wordList } from '../kernel/text/word-list.ts';

/** Flag groups in the order of the help text. Common flags come last. */
const GROUPS =
  wordList(`SIGNER EMAIL FILE WEBHOOK ADDRESS SIGNATURE SEAL PACE SERVICE FILTER OUTPUT KEY STORAGE GUARD
  GLOBAL`);

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
      .map((command) => exampleLines(`$ ${command}`, width))
      .join('\n');
  }

  protected override groupFlags(flags: Command.Flag.Any[]): ReturnType<CommandHelp['groupFlags']> {
    const { mainFlags, flagGroups } = super.groupFlags(flags.map(withDefault));
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

/** Moves the default to the end of the description, where it is for all other flags. */
function withDefault(flag: Command.Flag.Any): Command.Flag.Any {
  if (flag.type !== 'option' || flag.default === undefined) return flag;
  const preset = String(flag.default);
  const shown = preset.includes(' ') ? `"${preset}"` : preset;
  return { ...flag, default: undefined, description: `${flag.description} (default ${shown})` };
}

const START = `Try the demo:       esign demo
Start a sandbox:    esign sandbox start
Use your account:   esign profiles add NAME --base-url URL
Send a contract:    esign envelopes create --template ID --signer a@b.c --send
Fix your setup:     esign doctor`;

/** The width of the widest line including its indent, in columns. */
const START_WIDTH = 80;

/** Prints the help of the program: its commands, and where to start. */
export default class EsignHelp extends Help {
  protected override CommandHelpClass = EsignCommandHelp;

  override formatRoot(): string {
    // The build writes the help pages, so they must not contain facts about the build machine.
    const root = super.formatRoot().replace(this.config.userAgent, `esign ${this.config.version}`);
    const isNarrow = this.opts.maxWidth < START_WIDTH;
    const start = isNarrow ? START.replaceAll(/: +/g, ':\n  ') : START;
    const [first = '', ...rest] = root.split('\n');
    const head = isNarrow ? this.wrap(first) : first;
    return `${[head, ...rest].join('\n')}\n\n${this.section('START HERE', start)}`;
  }
}

/** A shell word, possibly with quoted parts. */
const WORD = /(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"])+/g;
const INDENT = '    ';
const CONTINUATION = ' \\';

/** Breaks an example into lines that fit the width. Each line except the last ends in a backslash. */
export function exampleLines(command: string, width: number): string {
  if (command.length <= width) return command;
  const lines: string[] = [];
  let line = '';
  for (const piece of piecesOf(command)) {
    const longer = line === '' ? piece : `${line} ${piece}`;
    if (line.trim() === '' || longer.length + CONTINUATION.length <= width) line = longer;
    else {
      lines.push(line);
      line = `${INDENT}${piece}`;
    }
  }
  return [...lines, line].join(`${CONTINUATION}\n`);
}

/** Splits a command into words, keeping each flag and its value together. */
function piecesOf(command: string): string[] {
  const pieces: string[] = [];
  for (const word of command.match(WORD) ?? []) {
    const last = pieces.at(-1);
    const isValue = last !== undefined && /^--?\w[\w-]*$/.test(last) && !/^[-|]/.test(word);
    if (isValue) pieces[pieces.length - 1] = `${last} ${word}`;
    else pieces.push(word);
  }
  return pieces;
}
