import { Command } from '@oclif/core/command';
import { watchOutput } from './boot/output.ts';
import { Context, type ContextFlags } from './context.ts';
import { commonFlags } from './flags.ts';

watchOutput();

/**
 * Every command: the common flags, and its context. `--json` is ours, not oclif's, which would
 * change exit codes and write errors to stdout; `catch` hands every error to the one reporter.
 */
export abstract class EsignCommand extends Command {
  static override baseFlags = commonFlags;

  /** Streams, clock, settings and the client of this run, each made when first used. */
  protected context(flags: ContextFlags): Context {
    return new Context(flags, this.config.version);
  }

  protected override catch(error: Error): Promise<never> {
    throw error;
  }
}
