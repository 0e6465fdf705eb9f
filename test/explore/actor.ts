import type { Client } from '../../src/api/client.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import type { WriteMemory } from '../../src/log/write-memory.ts';

/** What a process has: the product's own client, a log and a journal in memory, and the clock of the exploration. */
export interface Machine {
  /** A, B, C. */
  name: string;
  client: Client;
  memory: WriteMemory;
  journal: Journal;
  clock: Clock;
  signal: AbortSignal;
}

/** Lines that a process keeps for the next one on its machine. */
export interface Journal {
  /** Appends lines. They outlast the process when this resolves. */
  append(lines: readonly string[]): Promise<void>;
  /** Makes all lines outlast a power failure. */
  sync(): Promise<void>;
  read(): Promise<readonly string[]>;
}

/** The end of a process. `sent`: the IDs of the envelopes that it reports as sent. */
export interface Outcome {
  sent: readonly string[];
}

/**
 * The code under exploration: one command, run by one process. It may wait only for what the machine offers. If it throws an
 * EsignError, it has failed and may be started again; any other error is a finding.
 */
export type Actor = (machine: Machine) => Promise<Outcome>;
