import type { JournalPosition } from '../journal/day-journal.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Redactor } from '../kernel/redaction.ts';
import type { ForwardResult } from './forward/send.ts';
import type { ServiceTime } from './health/clock-watch.ts';
import type { Inspector } from './inspector/server.ts';
import type { Delivery } from './receive/delivery.ts';
import type { ReceiverOptions } from './receive/receiver.ts';

/** The number of deliveries by outcome. */
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
  /** The number of deliveries from earlier runs that are still to be forwarded. */
  | { type: 'backlog'; pending: number }
  /** The delivery, valid or not, was stored in the journal and acknowledged. */
  | { type: 'delivery'; delivery: Delivery; place: JournalPosition }
  | { type: 'forward'; result: ForwardResult }
  /** The number of old days deleted from the journals. */
  | { type: 'removed'; days: number }
  | { type: 'warning'; message: string }
  /** The listener was stopped, and continues to forward for a while. */
  | { type: 'draining'; pending: number }
  /** Always the last event. */
  | ({ type: 'summary' } & ListenSummary);

export interface ListenerOptions
  extends Omit<ReceiverOptions, 'seen' | 'onDelivery' | 'onFailure' | 'onDropped'> {
  clock: Clock;
  eventsFolder: string;
  forwardsFolder: string;
  /** The events to report and forward. All events are stored. */
  events: ReadonlySet<string> | undefined;
  forwardTo: readonly string[];
  forwardTimeoutMs: number;
  /** The folder into which the documents of completed envelopes are downloaded, as an absolute path. */
  downloadTo?: string | undefined;
  /** How long to continue forwarding after a stop. */
  drainMs: number;
  /** How long a day of the journals is kept; undefined keeps it forever. */
  keepMs: number | undefined;
  /** The command that makes the listener reachable from the internet. */
  tunnel: string | undefined;
  /** Options of the local web page that shows deliveries. It opens at the start or on request. */
  inspect: { port: number; redactor: Redactor; isOpen: boolean } | undefined;
  /** Options of the health endpoint. With it, the listener keeps running despite a broken tunnel or a port in use. */
  health: { port: number; serviceTime: ServiceTime | undefined; askEveryMs: number | undefined } | undefined;
  /** Called when the listener is ready. */
  onControls?: ((controls: ListenControls) => void) | undefined;
}

/** What a user can do while the listener runs. */
export interface ListenControls {
  /** Retries all delayed forwards immediately and returns their number. */
  tryForwardsNow(): number;
  /** Opens the inspector. Returns undefined if none is configured. */
  openInspector(): Promise<Pick<Inspector, 'url' | 'ticketUrl'> | undefined>;
}
