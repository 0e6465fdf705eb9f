/** The command line as a script uses it: runs commands and reads their JSON. */
export interface CommandLine {
  /** Runs a command and returns its JSON. Rejects with its output if it fails. */
  run(args: readonly string[]): Promise<unknown>;
  /** The same for JSON Lines. */
  lines(args: readonly string[]): Promise<unknown[]>;
  /** Starts a command that keeps running. */
  start(args: readonly string[]): Running;
}

export interface Running {
  /**
   * Returns the next JSON line of its stdout; undefined after the timeout. Without a timeout, it waits as long as the
   * command runs, because machines can be slow. Rejects if the command has exited.
   */
  line(timeoutMs?: number): Promise<unknown>;
  /** Its exit code, once it has exited by itself. */
  ended(): Promise<number>;
  /** Stops it and waits until it has exited. */
  stop(): Promise<void>;
}
