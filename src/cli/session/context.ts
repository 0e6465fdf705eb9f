import type { Interrupt } from '../interrupt.ts';
import type { CommandTerminal, TerminalFlags } from '../terminal.ts';
import type { Session, SessionFlags } from './session.ts';

export type CommonFlags = SessionFlags & TerminalFlags;

/** The context of a command: the account, the user's terminal, and the signal that stops it. */
export interface Context {
  session: Session;
  terminal: CommandTerminal;
  interrupt: Interrupt;
}
