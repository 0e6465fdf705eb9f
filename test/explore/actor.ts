import type { Client } from '../../src/api/client.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import type { WriteMemory } from '../../src/log/write-memory.ts';
import type { Journal } from './disk.ts';

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

/** The end of a process. `sent`: the IDs of the envelopes that it reports as sent. */
export interface Outcome {
  sent: readonly string[];
}

/**
 * The code under exploration: one command, run by one process. It may wait only for what the machine offers. If it throws an
 * EsignError, it has failed and may be started again; any other error is a finding.
 */
export type Actor = (machine: Machine) => Promise<Outcome>;
