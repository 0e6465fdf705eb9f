import type { Clock } from '../kernel/clock.ts';
import type { Redactor } from '../kernel/redaction.ts';
import type { ForwardResult } from './forward/send.ts';
import type { ServiceTime } from './health/clock-watch.ts';
import type { Inspector } from './inspector/server.ts';
import type { Delivery } from './receive/delivery.ts';
import type { ReceiverOptions } from './receive/receiver.ts';

/** How many deliveries came to be what. */
export interface Summary {
  received: number;
  verified: number;
  refused: number;
  duplicates: number;
}

/** What happens to a listener, in the order in which it happens. */
export type ListenEvent =
  | {
      type: 'ready';
      url: string;
      verify: boolean;
      inspectorUrl: string | undefined;
      healthUrl: string | undefined;
    }
  /** It is reachable from outside. */
  | { type: 'tunnel'; url: string }
  /** So many are still to be forwarded from an earlier run. */
  | { type: 'backlog'; pending: number }
  /** It is in the journal, good or bad, and the sender is told so. */
  | { type: 'delivery'; delivery: Delivery }
  | { type: 'forward'; result: ForwardResult }
  /** So many old days were removed from the journals. */
  | { type: 'removed'; days: number }
  | { type: 'warning'; message: string }
  /** It was stopped, and goes on with what is being forwarded for a while. */
  | { type: 'draining'; pending: number }
  /** The last event of all. */
  | ({ type: 'summary' } & Summary);

export interface ListenerOptions
  extends Omit<ReceiverOptions, 'seen' | 'onDelivery' | 'onFailure' | 'onDropped'> {
  clock: Clock;
  eventsFolder: string;
  forwardsFolder: string;
  /** Only these are told of and forwarded; all are kept. */
  events: ReadonlySet<string> | undefined;
  forwardTo: readonly string[];
  forwardTimeoutMs: number;
  /** How long to go on forwarding when stopped. */
  drainMs: number;
  /** How long a day is kept; for ever when absent. */
  keepMs: number | undefined;
  /** The command that makes it reachable from outside. */
  tunnel: string | undefined;
  /** Shows deliveries on a page of this machine, from the start or when it is asked for. */
  inspect: { port: number; redactor: Redactor; isOpen: boolean } | undefined;
  /** Answers monitors on this port, and outlives what can be mended: a tunnel that breaks down, a port that is taken. */
  health: { port: number; serviceTime: ServiceTime | undefined; askEveryMs: number | undefined } | undefined;
  /** Handed over when it is ready. */
  onControls?: ((controls: ListenControls) => void) | undefined;
}

/** What a person may have a listener do while it runs. */
export interface ListenControls {
  /** Tries at once what waits to be forwarded again, and tells how many that are. */
  tryForwardsNow(): number;
  /** Undefined where no inspector is wanted. */
  openInspector(): Promise<Pick<Inspector, 'url' | 'ticketUrl'> | undefined>;
}
