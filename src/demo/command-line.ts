/** The command line as the demo uses it: it types commands and reads their JSON, like any script. */
export interface CommandLine {
  /** Runs a command to its end; its JSON. Rejects with what it said when it failed. */
  run(args: readonly string[]): Promise<unknown>;
  /** The same for JSON Lines. */
  lines(args: readonly string[]): Promise<unknown[]>;
  /** Starts a command that goes on. */
  start(args: readonly string[]): Running;
}

export interface Running {
  /**
   * The next JSON line of its stdout; undefined when there is none within the time. Without a time it waits as long as the
   * command lives, since nobody knows how slow a machine is; rejects when the command has ended.
   */
  line(timeoutMs?: number): Promise<unknown>;
  /** Its exit code, once it has ended by itself. */
  ended(): Promise<number>;
  /** Asks it to stop and waits until it has. */
  stop(): Promise<void>;
}
