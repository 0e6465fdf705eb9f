import { secretsInEnvironment } from '../../kernel/process/child-environment.ts';
import { createRedactor, type Redactor } from '../../kernel/redaction.ts';
import { StandardOutput } from '../boot/standard-output.ts';
import { createRecents } from '../completion/recent.ts';
import { type Interrupt, watchSignals } from '../interrupt.ts';
import type { RunAccount } from './account.ts';
import type { Observations } from './seen-data.ts';

/** One run of the program. Created by `main`; commands receive its parts through their context. */
export interface Invocation {
  /** The arguments after `esign`. */
  words: readonly string[];
  /** The command named by the arguments, such as `envelopes get`. Empty until it is found. */
  command: string;
  /** Every secret of this run is added to it before it is used. */
  redactor: Redactor;
  interrupt: Interrupt;
  output: StandardOutput;
  /** The data that the service returned in this run, used for completion and the index. */
  observations: Observations;
  /** Named in commands that are printed as the next step. */
  account: RunAccount;
}

export function createInvocation(words: readonly string[]): Invocation {
  const interrupt = watchSignals();
  return {
    words,
    command: '',
    redactor: createRedactor(secretsInEnvironment(process.env)),
    interrupt,
    output: new StandardOutput(interrupt),
    observations: { recents: createRecents(), scope: undefined, index: undefined },
    account: { flags: [] },
  };
}

/** Needed because oclif's constructor of a command accepts only a config. */
const byConfig = new WeakMap<object, Invocation>();

export function bindInvocation<T extends object>(config: T, invocation: Invocation): T {
  byConfig.set(config, invocation);
  return config;
}

/** @throws Error for a config that was not passed to `bindInvocation`. */
export function invocationOf(config: object): Invocation {
  const invocation = byConfig.get(config);
  if (invocation === undefined) throw new Error('The command was started without its context.');
  return invocation;
}
