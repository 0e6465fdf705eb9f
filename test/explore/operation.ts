import type { LoggedWrite } from '../../src/log/logged-write.ts';
import type { LogRecord } from '../../src/log/stored-records.ts';
import type { Answer, ServiceRequest } from './service.ts';

/** What a process waits for. Each is a point at which the explorer chooses. */
export type Operation = Waiting & Task;

interface Waiting {
  /** Counts the operations of a process. */
  id: number;
  says: string;
  /** When it began, in ms. */
  since: number;
}

export type Task =
  | { kind: 'start' }
  | { kind: 'request'; request: ServiceRequest; isWrite: boolean }
  | { kind: 'disk'; work: DiskWork; isWrite: boolean }
  | { kind: 'sleep'; until: number };

export type Request = Operation & { kind: 'request' };

export type DiskWork =
  | { kind: 'log'; records: readonly LogRecord[] }
  | { kind: 'find'; hashes: readonly string[] }
  | { kind: 'write'; lines: readonly string[] }
  | { kind: 'sync' }
  | { kind: 'read' };

/** How an operation ends. `none`: without a value. `lost`: the reply to a request is lost. */
export type Result =
  | { kind: 'none' | 'lost' }
  | { kind: 'answer'; answer: Answer }
  | { kind: 'writes'; writes: readonly LoggedWrite[] }
  | { kind: 'lines'; lines: readonly string[] };

/** What a process observes: the end of an operation, at a time (ms). */
export interface Observation {
  id: number;
  result: Result;
  now: number;
}

/** Returns true if the process can continue with this operation now, without time passing. */
export function canContinue(operation: Operation, now: number): boolean {
  return operation.kind !== 'sleep' || operation.until <= now;
}
