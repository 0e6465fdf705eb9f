import type { Clock } from '../../../kernel/clock.ts';
import type { DocumentMaker } from '../../model.ts';
import type { ResetLock } from '../engine/reset-lock.ts';
import type { Faults } from '../faults/faults.ts';
import type { RandomId } from '../store/keys.ts';
import type { Store } from '../store/store.ts';
import type { Choices } from './choices.ts';
import type { ErrorLog } from './error-log.ts';
import type { SandboxClock } from './sandbox-clock.ts';

/** The parts of a service that its modules share. */
export interface ServiceParts {
  store: Store;
  clock: SandboxClock;
  /** The machine's clock, for waits in real time. */
  realClock: Clock;
  choices: Choices;
  faults: Faults;
  randomId: RandomId;
  documents: DocumentMaker;
  resets: ResetLock;
  errorLog: ErrorLog;
  /** Returns the base of the links in emails. A function because the port is known only once the service listens. */
  origin: () => string;
}
