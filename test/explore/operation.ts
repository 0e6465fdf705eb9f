import type { Answer, ServiceRequest } from './service.ts';

/** What a process waits for. Each is a point at which the explorer chooses. */
export type Operation = Start | Request | DiskOperation | Sleep;

interface Waiting {
  says: string;
  /** When it began, in ms. */
  since: number;
  fail(error: Error): void;
}

/** The beginning of a process. */
interface Start extends Waiting {
  kind: 'start';
  go(): void;
}

export interface Request extends Waiting {
  kind: 'request';
  request: ServiceRequest;
  isWrite: boolean;
  /** The reply on its way, if the service has processed the request. */
  answer: Answer | undefined;
  reply(answer: Answer): void;
}

export interface DiskOperation extends Waiting {
  kind: 'disk';
  isWrite: boolean;
  /** Does it without an answer, as for a process that is killed at this moment. */
  keep(): void;
  go(): void;
}

interface Sleep extends Waiting {
  kind: 'sleep';
  until: number;
  go(): void;
}

/** Returns true if the process can continue with this operation now, without time passing. */
export function canContinue(operation: Operation, now: number): boolean {
  return operation.kind !== 'sleep' || operation.until <= now;
}
