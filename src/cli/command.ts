import { Command } from '@oclif/core/command';
import { commonFlags } from './flags.ts';
import { Surroundings, type SurroundingsFlags } from './surroundings.ts';

/**
 * Every command: the common flags, and its surroundings. `--json` is ours, not oclif's, which would
 * change exit codes and write errors to stdout; `catch` hands every error to the one reporter.
 */
export abstract class EsignCommand extends Command {
  static override baseFlags = commonFlags;

  /** Streams, clock, settings and the client of this run, each made when first used. */
  protected surroundings(flags: SurroundingsFlags): Surroundings {
    return new Surroundings(flags, this.config.version);
  }

  protected override catch(error: Error): Promise<never> {
    throw error;
  }
}
