import type { Clock } from '../kernel/clock.ts';
import type { Redactor } from '../kernel/redaction.ts';
import type { JournalPosition } from '../lines/day-journal.ts';
import type { ForwardResult } from './forward/send.ts';
import type { Delivery } from './receive/delivery.ts';
import type { ReceiverOptions } from './receive/receiver.ts';

/** The number of requests by outcome, including those that were refused unread. */
export interface ListenSummary {
  received: number;
  verified: number;
  refused: number;
  duplicates: number;
}

/** What happens to a listener, in order. */
export type ListenEvent =
  | {
      type: 'ready';
      url: string;
      verify: boolean;
      inspectorUrl: string | undefined;
      healthUrl: string | undefined;
    }
  /** The listener is reachable from the internet. */
  | { type: 'tunnel'; url: string }
  /** The delivery, valid or not, was stored in the journal and acknowledged. */
  | { type: 'delivery'; delivery: Delivery; place: JournalPosition }
  | { type: 'forward'; result: ForwardResult }
  | { type: 'warning'; message: string }
  /** Progress for people, which scripts don't need. */
  | { type: 'notice'; message: string }
  /** Always the last event. */
  | ({ type: 'summary' } & ListenSummary);

export interface ListenerOptions
  extends Pick<ReceiverOptions, 'host' | 'port' | 'path' | 'secretsFor' | 'verify'> {
  clock: Clock;
  eventsFolder: string;
  /** The events to report and forward. All events are stored. */
  events: ReadonlySet<string> | undefined;
  forwardTo: readonly string[];
  /** The command that makes the listener reachable from the internet. */
  tunnel: string | undefined;
  /** Whether to serve the page that shows deliveries. */
  inspect: boolean;
  /** The port for health checks; undefined serves none. */
  healthPort: number | undefined;
  redactor: Redactor;
}
