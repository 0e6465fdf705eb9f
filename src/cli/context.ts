import type { Interrupt } from './interrupt.ts';
import type { Invocation } from './invocation.ts';
import { Session, type SessionFlags } from './session.ts';
import { type CommandTerminal, createTerminal, type TerminalFlags } from './terminal.ts';

export type CommonFlags = SessionFlags & TerminalFlags;

/** The context of a command: the account, the user's terminal, and the signal that stops it. */
export interface Context {
  session: Session;
  terminal: CommandTerminal;
  interrupt: Interrupt;
}

/** Creates the context of a command. Files are read and connections opened only when they are needed. */
export function createContext(flags: CommonFlags, version: string, invocation: Invocation): Context {
  const terminal = createTerminal(flags, invocation);
  const session = new Session(flags, { version, invocation, terminal });
  return { session, terminal, interrupt: invocation.interrupt };
}
