import type { HttpReply, HttpRequest, SendRequest } from '../api/http.ts';
import { envelopeSchema, matches, readAs, resourceReplySchema } from '../api/schemas.ts';
import type { OpenGate, PlannedWrite, RunEnd, WriteGate } from '../api/write-gate.ts';
import { GuardError } from '../kernel/errors.ts';
import { isRecord } from '../kernel/json.ts';
import { LogRecorder, type RecorderOptions, type WriteFacts } from '../log/recorder.ts';
import { Guard, type GuardOptions, type ReadEnvelope } from './guard.ts';
import { readWrite } from './write.ts';

type CompleteRun = (end: RunEnd) => Promise<void>;

/** The state that the gates of a command share. */
interface Shared {
  guard: Guard;
  recorder: LogRecorder;
  /** Begins the log entry of the bulk run that all writes belong to. */
  beginRun: (() => Promise<CompleteRun>) | undefined;
}

/**
 * Creates the gates of a command, one for each client. A gate lets writes pass if the guards allow them, and records them in the
 * log.
 */
export function guardedGate(options: GuardOptions & RecorderOptions): OpenGate {
  const guard = new Guard(options);
  const shared: Shared = { guard, recorder: new LogRecorder(options), beginRun: undefined };
  return (send) => new GuardedGate(shared, send);
}

/**
 * Creates gates that refuse all writes if the profile or the policy is read-only or the policy can't be used, and let them pass
 * otherwise. They are for writes that only a sandbox offers, which are not logged.
 */
export function readOnlyGate(options: GuardOptions): OpenGate {
  const guard = new Guard(options);
  const refuseAll = async () => void (await guard.refuseAll());
  return (send) => ({
    check: refuseAll,
    confirm: () => Promise.resolve(),
    isConfirmed: () => Promise.resolve(false),
    resolve: () => Promise.resolve(),
    beginRun: () => () => Promise.resolve(),
    async pass(request) {
      await refuseAll();
      return send(request);
    },
  });
}

class GuardedGate implements WriteGate {
  readonly #shared: Shared;
  readonly #send: SendRequest;
  readonly #read: ReadEnvelope;

  constructor(shared: Shared, send: SendRequest) {
    this.#shared = shared;
    this.#send = send;
    this.#read = async (id) => {
      const { body, status } = await send({
        method: 'GET',
        path: `/esign/envelopes/${encodeURIComponent(id)}`,
      });
      const { data } = readAs(resourceReplySchema, body, 'an envelope', status);
      return readAs(envelopeSchema, data, 'an envelope', status);
    };
  }

  async check(planned: readonly PlannedWrite[]): Promise<void> {
    const sends = planned.some((one) => one.action !== 'create' || one.sends);
    const envelopeIds = planned.flatMap((one) => (one.action === 'create' ? [] : one.envelopeId));
    const action = planned[0]?.action ?? 'other';
    const facts: WriteFacts = {
      action,
      effect: sends ? 'mails' : 'writes',
      envelopeIds,
      requestId: undefined,
    };
    await this.#recordingRefusal(facts, () => this.#shared.guard.check(planned, this.#read));
  }

  confirm(): Promise<void> {
    return this.#shared.guard.confirm();
  }

  isConfirmed(): Promise<boolean> {
    return Promise.resolve(this.#shared.guard.isConfirmed);
  }

  async pass(request: HttpRequest): Promise<HttpReply> {
    const { guard, recorder, beginRun } = this.#shared;
    const write = readWrite(request);
    const { action, effect, envelopeId, requestId } = write;
    const envelopeIds = envelopeId === undefined ? [] : [envelopeId];
    const facts: WriteFacts = { action, effect, envelopeIds, requestId };
    await this.#recordingRefusal(facts, () => guard.allow(write, this.#read));
    const send = (onSend?: () => void) => this.#send({ ...request, onSend });
    await beginRun?.();
    const reply = await (beginRun === undefined ? recorder.record(facts, send, envelopeIn) : send());
    await guard.remember(write, envelopeId ?? envelopeIn(reply));
    return reply;
  }

  resolve(lost: { requestId: string } | { envelopeId: string }, envelopeId: string): Promise<void> {
    return this.#shared.recorder.resolve('requestId' in lost ? lost.requestId : lost.envelopeId, envelopeId);
  }

  beginRun({ id, sends }: { id: string; sends: boolean }): CompleteRun {
    const shared = this.#shared;
    let started: Promise<CompleteRun> | undefined;
    shared.beginRun = () => {
      started ??= shared.recorder.beginRun(id, sends);
      return started;
    };
    return async (end) => {
      shared.beginRun = undefined;
      // A run that wrote nothing has no entry. A run whose first write could not be recorded has none, either.
      const complete = await started?.catch(() => undefined);
      await complete?.(end);
    };
  }

  async #recordingRefusal(write: WriteFacts, decide: () => Promise<void>): Promise<void> {
    try {
      await decide();
    } catch (error) {
      if (error instanceof GuardError) await this.#shared.recorder.refused(write, error.code);
      throw error;
    }
  }
}

function envelopeIn({ body }: HttpReply): string | undefined {
  if (!matches(resourceReplySchema, body)) return undefined;
  const { data } = body;
  return isRecord(data) && typeof data.id === 'string' ? data.id : undefined;
}
