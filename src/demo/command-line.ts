/** The command line as scripts use it: runs commands and parses their JSON output. */
export interface CommandLine {
  /** Runs a command and returns its JSON. Rejects with its output if it fails. */
  run(args: readonly string[]): Promise<unknown>;
  /** Runs a command and returns its JSON Lines. */
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
  /** Resolves with the exit code when the command exits by itself. */
  ended(): Promise<number>;
  /** Stops the command and waits until it has exited. */
  stop(): Promise<void>;
}
