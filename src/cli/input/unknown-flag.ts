import { UsageError } from '../../kernel/errors.ts';

/** A flag among the arguments of a command that takes several, which oclif doesn't check. */
export class UnknownFlagError extends UsageError {
  readonly flag: string;

  constructor(flag: string) {
    super(`Unknown flag ${flag}.`, { hint: 'Use --help to see the available flags.' });
    this.flag = flag;
  }
}
