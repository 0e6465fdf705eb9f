import type { HttpRequest, SendRequest } from './http.ts';
import type { HttpResponse } from './response.ts';

/** A write that a command plans to send. */
export type PlannedWrite =
  | {
      action: 'create';
      /** The email addresses of all signers. */
      emails: readonly string[];
      /** Whether the command emails them. */
      sends: boolean;
      /** The number of signers emailed, if not all are. */
      emailCount?: number;
    }
  | { action: 'send'; envelopeId: string }
  | { action: 'cancel'; envelopeId: string }
  | { action: 'remind'; envelopeId: string; signer?: string | undefined }
  /** A request whose effect only the request itself shows. */
  | { action: 'other'; request: HttpRequest };

/** The end of a bulk run, for its entry in the log. */
export interface RunEnd {
  outcome: 'done' | 'refused' | 'unknown';
  /** An error code. */
  error: string | null;
  counts: Record<string, number>;
}

/** The permission for the planned writes of a command. */
export interface WritePermit {
  /** True if the confirmation that the guards require was given as a flag. */
  isConfirmed: boolean;
  /** True if `confirm` asks for it, so that another question isn't needed. */
  asksName: boolean;
  /** Asks for the confirmation that the guards require, if any. @throws GuardError if it isn't given. */
  confirm(): Promise<void>;
}

/** The gate that every write passes before it is sent: first the guards, then the log. */
export interface WriteGate {
  /** Sends a write if the guards allow it, and records it in the log. */
  pass(request: HttpRequest): Promise<HttpResponse>;
  /**
   * Checks all writes of a command before the first is sent, and starts to count its emails.
   * @throws GuardError if one of them is not allowed.
   */
  check(planned: readonly PlannedWrite[]): Promise<WritePermit>;
  /** Records that a write was done although its response was lost. `key`: its request ID or envelope ID. */
  resolve(key: string, envelopeId: string): Promise<void>;
  /** Starts a run. All later writes belong to it and share an entry in the log, which the returned function completes. */
  beginRun(run: { id: string; sends: boolean }): (end: RunEnd) => Promise<void>;
}

/** Creates the gate of a client. `send` sends a request; `account` names the client's account (`accountOf`) in the log. */
export type OpenGate = (send: SendRequest, account: string) => WriteGate;

/** A gate without guards and without a log. */
export const openGate: OpenGate = (send) => ({
  pass: send,
  check: () => Promise.resolve({ isConfirmed: false, asksName: false, confirm: () => Promise.resolve() }),
  resolve: () => Promise.resolve(),
  beginRun: () => () => Promise.resolve(),
});
