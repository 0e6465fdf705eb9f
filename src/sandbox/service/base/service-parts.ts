import type { Clock } from '../../../kernel/clock.ts';
import type { DocumentMaker } from '../../model.ts';
import type { SandboxRateWindow } from '../api/rate-window.ts';
import type { DocumentStore } from '../engine/document-store.ts';
import type { ReserveQuota } from '../engine/quota.ts';
import type { Faults } from '../faults/faults.ts';
import type { CountedIds } from '../store/counted-ids.ts';
import type { RandomId } from '../store/keys.ts';
import type { ReportFailure, Store } from '../store/store.ts';
import type { ServiceRules } from './choices.ts';
import type { SandboxClock } from './sandbox-clock.ts';

/** The parts of a service that its modules share. */
export interface ServiceParts {
  store: Store;
  clock: SandboxClock;
  /** The machine's clock, for waits in real time. */
  realClock: Clock;
  /** The time to which a reset sets the sandbox's clock, in ms since the epoch. Default: the machine's time. */
  startsAt: number | undefined;
  rules: ServiceRules;
  faults: Faults;
  randomId: RandomId;
  /** The numbered IDs; undefined if IDs are random. */
  counted: CountedIds | undefined;
  documents: DocumentMaker;
  documentStore: DocumentStore;
  reserveQuota: ReserveQuota;
  rates: SandboxRateWindow;
  reportFailure: ReportFailure;
  /** Returns the base of the links in emails. A function because the port is known only once the service listens. */
  origin: () => string;
}
