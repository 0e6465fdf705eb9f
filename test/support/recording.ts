import type { OpenGate } from '../../src/api/write-gate.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { LogFolder, logFolder } from '../../src/log/log-folder.ts';
import { recordingGate } from '../../src/log/recording-gate.ts';
import type { WriteMemory } from '../../src/log/write-memory.ts';

/** The log of a machine, which is a state folder. */
export function memoryOf(machine: string, clock: Pick<Clock, 'now'>): WriteMemory {
  return new LogFolder(logFolder(machine), clock);
}

/** A gate that records the writes of a client and has no guards. */
export function gateFor(
  memory: WriteMemory,
  baseUrl: string,
  clock: Pick<Clock, 'now'>,
  serviceNow: () => number = () => clock.now(),
): OpenGate {
  const facts = { user: 'ada', profile: null, baseUrl, command: 'test' };
  return recordingGate({
    memory,
    facts,
    clock,
    serviceNow,
    timeoutMs: 30_000,
    onIncomplete: () => undefined,
  });
}
