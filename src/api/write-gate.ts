import type { HttpReply, HttpRequest, SendRequest } from './http.ts';

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
  | { action: 'remind'; envelopeId: string; signer?: string | undefined };

/** The end of a bulk run, for its entry in the log. */
export interface RunEnd {
  outcome: 'done' | 'refused' | 'unknown';
  /** An error code. */
  error: string | null;
  envelopeIds: readonly string[];
  counts: Record<string, number>;
}

/** The gate that every write passes before it is sent: first the guards, then the log. */
export interface WriteGate {
  /** Sends a write if the guards allow it, and records it in the log. */
  pass(request: HttpRequest): Promise<HttpReply>;
  /**
   * Checks all writes of a command before the first is sent, and starts to count its emails.
   * @throws GuardError if one of them is not allowed.
   */
  check(planned: readonly PlannedWrite[]): Promise<void>;
  /** Asks for the confirmation that `check` requires, if any. @throws GuardError if it isn't given. */
  confirm(): Promise<void>;
  /** Returns true if the confirmation that `check` requires was given as a flag. */
  isConfirmed(): Promise<boolean>;
  /** Records that a write was done although its response was lost. */
  resolve(lost: { requestId: string } | { envelopeId: string }, envelopeId: string): Promise<void>;
  /** Starts a run. All later writes belong to it and share an entry in the log, which the returned function completes. */
  beginRun(run: { id: string; sends: boolean }): (end: RunEnd) => Promise<void>;
}

/** Creates the gate of a client. `send` sends a request. */
export type OpenGate = (send: SendRequest) => WriteGate;

/** A gate without guards and without a log. */
export const openGate: OpenGate = (send) => ({
  pass: send,
  check: () => Promise.resolve(),
  confirm: () => Promise.resolve(),
  isConfirmed: () => Promise.resolve(false),
  resolve: () => Promise.resolve(),
  beginRun: () => () => Promise.resolve(),
});

/** Creates a gate that is loaded by the first write, because most commands only read. */
export function lazyGate(load: () => Promise<OpenGate>): OpenGate {
  let loading: Promise<OpenGate> | undefined;
  return (send) => {
    const gate = async () => {
      loading ??= load();
      return (await loading)(send);
    };
    return {
      pass: async (request) => (await gate()).pass(request),
      check: async (planned) => (await gate()).check(planned),
      confirm: async () => (await gate()).confirm(),
      isConfirmed: async () => (await gate()).isConfirmed(),
      resolve: async (lost, envelopeId) => (await gate()).resolve(lost, envelopeId),
      beginRun: (run) => {
        const ending = gate().then((one) => one.beginRun(run));
        ending.catch(() => undefined);
        return async (end) => (await ending)(end);
      },
    };
  };
}
