import { Command } from '@oclif/core/command';
import type { Input, ParserOutput } from '@oclif/core/interfaces';
import { UsageError } from '../kernel/errors.ts';
import { configDir } from '../kernel/files/paths.ts';
import { wordList } from '../kernel/text/word-list.ts';
import { profileNamed, readProfiles } from '../settings/store.ts';
import { commonFlags } from './flags.ts';
import type { CommonFlags, Context } from './session/context.ts';
import { invocationOf } from './session/invocation.ts';
import { Session } from './session/session.ts';
import { createTerminal } from './terminal.ts';

type Values = Record<string, unknown>;

/**
 * Flags that may be empty: texts, and profile settings that an empty value removes. For any other flag, an empty value usually
 * comes from a variable that isn't set. It would filter nothing or select everyone.
 */
const MAY_BE_EMPTY = wordList(
  `subject message reason bucket region endpoint aws-profile access-key-id only-to`,
);

/**
 * The base class of all commands. It provides the common flags and the context. oclif's own `--json` would change exit codes and
 * write errors to stdout, so `--json` is defined here. `catch` passes every error to the reporter in main.ts.
 */
export abstract class EsignCommand extends Command {
  static override baseFlags = commonFlags;

  /** Files are read and connections opened only when they are needed. */
  protected context(flags: CommonFlags): Context {
    const invocation = invocationOf(this.config);
    const terminal = createTerminal(flags, invocation);
    const debug = flags.debug || Boolean(process.env.ESIGN_DEBUG);
    const session = new Session({ ...flags, debug }, { version: this.config.version, invocation, terminal });
    return { session, terminal, interrupt: invocation.interrupt };
  }

  /** Parses the command line and creates the context, for which the flags in `fixed` have these values. */
  protected async start<F extends Values, B extends Values & CommonFlags, A extends Values>(
    options: Input<F, B, A>,
    fixed: Partial<CommonFlags> = {},
  ) {
    const parsed = await this.parse(options);
    const flags: B = parsed.flags;
    const context = this.context({ ...flags, ...fixed });
    return { ...parsed, ...context, context };
  }

  /**
   * @throws UsageError also if a flag or an argument is empty.
   * @throws NotFoundError if the profile of `--profile` doesn't exist: also what needs no profile must not accept a typo.
   */
  protected override async parse<F extends Values, B extends Values, A extends Values>(
    options?: Input<F, B, A>,
    argv?: string[],
  ): Promise<ParserOutput<F, B, A>> {
    const parsed = await super.parse(options, argv);
    for (const token of parsed.raw) {
      if (token.type !== 'flag' || MAY_BE_EMPTY.includes(token.flag)) continue;
      if (token.input.trim() === '') throw emptyValue(`--${token.flag}`);
    }
    // Commands that take several arguments check them themselves.
    const args = this.ctor.strict ? Object.entries<unknown>(parsed.args) : [];
    for (const [name, value] of args) if (value === '') throw emptyValue(`The argument ${name}`);
    const { profile } = parsed.flags;
    if (typeof profile === 'string') profileNamed(readProfiles(configDir()), profile);
    return parsed;
  }

  protected override catch(error: Error): Promise<never> {
    throw error;
  }
}

function emptyValue(what: string): UsageError {
  return new UsageError(`${what} is empty.`, {
    hint: 'If it comes from a variable, check that the variable is set. Nothing was done.',
  });
}
