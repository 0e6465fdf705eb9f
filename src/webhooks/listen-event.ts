import type { Clock } from '../kernel/clock.ts';
import type { Redactor } from '../kernel/redaction.ts';
import type { ForwardResult } from './forward/send.ts';
import type { ServiceTime } from './health/clock-watch.ts';
import type { Inspector } from './inspector/server.ts';
import type { Delivery } from './receive/delivery.ts';
import type { ReceiverOptions } from './receive/receiver.ts';

/** Number of deliveries by outcome. */
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
  /** It is reachable from outside. */
  | { type: 'tunnel'; url: string }
  /** Number of deliveries still to be forwarded from an earlier run. */
  | { type: 'backlog'; pending: number }
  /** It is in the journal, valid or not, and was acknowledged. */
  | { type: 'delivery'; delivery: Delivery }
  | { type: 'forward'; result: ForwardResult }
  /** Number of old days deleted from the journals. */
  | { type: 'removed'; days: number }
  | { type: 'warning'; message: string }
  /** It was stopped, and continues to forward for a while. */
  | { type: 'draining'; pending: number }
  /** The last event. */
  | ({ type: 'summary' } & ListenSummary);

export interface ListenerOptions
  extends Omit<ReceiverOptions, 'seen' | 'onDelivery' | 'onFailure' | 'onDropped'> {
  clock: Clock;
  eventsFolder: string;
  forwardsFolder: string;
  /** Only these are reported and forwarded; all are stored. */
  events: ReadonlySet<string> | undefined;
  forwardTo: readonly string[];
  forwardTimeoutMs: number;
  /** How long to continue forwarding after a stop. */
  drainMs: number;
  /** How long a day is kept; forever if undefined. */
  keepMs: number | undefined;
  /** The command that makes it reachable from outside. */
  tunnel: string | undefined;
  /** Shows deliveries on a local web page, from the start or on request. */
  inspect: { port: number; redactor: Redactor; isOpen: boolean } | undefined;
  /** Serves monitors on this port, and survives problems that can be fixed: a broken tunnel, a port in use. */
  health: { port: number; serviceTime: ServiceTime | undefined; askEveryMs: number | undefined } | undefined;
  /** Called when it is ready. */
  onControls?: ((controls: ListenControls) => void) | undefined;
}

/** What a user can do while a listener runs. */
export interface ListenControls {
  /** Retries all delayed forwards immediately. Returns their number. */
  tryForwardsNow(): number;
  /** Undefined if no inspector is configured. */
  openInspector(): Promise<Pick<Inspector, 'url' | 'ticketUrl'> | undefined>;
}
