import type { HttpReply, HttpRequest, SendRequest } from './http.ts';

/** A write that a command is about to make. */
export type PlannedWrite =
  | {
      action: 'create';
      /** The addresses of all signers. */
      emails: readonly string[];
      /** Whether they are emailed by this command. */
      sends: boolean;
      /** How many of them are emailed, where it is not all. */
      emailCount?: number;
    }
  | { action: 'send'; envelopeId: string }
  | { action: 'cancel'; envelopeId: string }
  | { action: 'remind'; envelopeId: string; signer?: string | undefined };

/** How a bulk run ended, for its entry in the log. */
export interface RunEnd {
  outcome: 'done' | 'refused' | 'unknown';
  /** A code. */
  error: string | null;
  envelopeIds: readonly string[];
  counts: Record<string, number>;
}

/** What every write passes before it is sent: the guards, then the log. */
export interface WriteGate {
  /** Sends a write if the guards allow it, with an entry in the log. */
  pass(request: HttpRequest): Promise<HttpReply>;
  /**
   * Checks all writes of a command before the first one, and begins to count its emails.
   * @throws GuardError when one of them is not allowed.
   */
  check(planned: readonly PlannedWrite[]): Promise<void>;
  /** Asks for the confirmation that `check` found to be necessary, if any. @throws GuardError when it isn't given. */
  confirm(): Promise<void>;
  /** Records that a write whose response was lost turned out to have been done. */
  resolve(lost: { requestId: string } | { envelopeId: string }, envelopeId: string): Promise<void>;
  /** From here on, all writes are those of a run: they share an entry, which is completed by the returned function. */
  beginRun(run: { id: string; sends: boolean }): (end: RunEnd) => Promise<void>;
}

/** Creates the gate of a client, given what sends a request. */
export type OpenGate = (send: SendRequest) => WriteGate;

/** A gate that lets everything pass and keeps no log. */
export const openGate: OpenGate = (send) => ({
  pass: send,
  check: () => Promise.resolve(),
  confirm: () => Promise.resolve(),
  resolve: () => Promise.resolve(),
  beginRun: () => () => Promise.resolve(),
});

/** A gate that is loaded by the first write: most commands only read. */
export function lateGate(load: () => Promise<OpenGate>): OpenGate {
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
      resolve: async (lost, envelopeId) => (await gate()).resolve(lost, envelopeId),
      beginRun: (run) => {
        const ending = gate().then((one) => one.beginRun(run));
        ending.catch(() => undefined);
        return async (end) => (await ending)(end);
      },
    };
  };
}
