/**
 * The outcome of a write. `late`: the response is lost, and the request is processed after `lateMs`. `late 504`: so does a gateway that
 * gives up. Other statuses come after the request was processed, except 429 and `refused`. `no body` and `no envelope` are responses that report
 * a success only.
 */
export type Fate =
  | 'ok'
  | 'lost'
  | 'never came'
  | 'late'
  | 'late 504'
  | 'no body'
  | 'no envelope'
  | 408
  | 429
  | 499
  | 500
  | { refused: number; code: string };

export interface Write {
  path: string;
  what: 'create' | 'send' | 'cancel';
  /** Counted from 1: among all writes, and among those of its kind. */
  number: number;
  nth: number;
}

/** Variants of a service that don't contradict the API document. */
export interface Behavior {
  /** The list shows the state of this time ago, in ms. */
  listLagMs?: number;
  lateMs?: number;
  /** The time from a write to its processing and response, in ms. */
  processingMs?: number;
  /** Metadata in list items. */
  listMetadata?: 'shown' | 'null' | 'empty' | 'missing';
  /** The list shows empty metadata for these envelopes. */
  emptyFor?: readonly string[];
  /** Changes to metadata keys everywhere. */
  keys?: 'kept' | 'lower-cased' | 'dropped';
  /** Changes to texts in metadata. */
  textIn?: (text: string) => unknown;
  /** A created envelope is found by its ID after this time, in ms. */
  getLagMs?: number;
  /** The service ignores `sendImmediately`. */
  onlyDrafts?: boolean;
  idOf?: (number: number) => string;
  refusesSend?: boolean;
  /** The status in the response to a send. */
  sentReply?: string;
  order?: 'newest-first' | 'oldest-first' | 'id';
  /** How far the Date header is ahead of the clock, and `createdAt` ahead of the Date header, in ms. */
  dateSkewMs?: number | 'no header';
  createdSkewMs?: number;
  /** How the service spells the template of an envelope. */
  templateIn?: (templateId: string) => string;
  /** The outcome of each write. */
  fateOf?: (write: Write) => Fate;
}
