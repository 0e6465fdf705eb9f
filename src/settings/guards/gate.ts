import { randomBytes } from 'node:crypto';
import type { HttpRequest, SendRequest, WriteHooks } from '../../api/http.ts';
import { READ_CONCURRENCY } from '../../api/request-defaults.ts';
import type { Envelope } from '../../api/resource-types.ts';
import type { HttpResponse } from '../../api/response.ts';
import { readAs, readEnvelope, resourceResponseSchema } from '../../api/schemas.ts';
import {
  type OpenGate,
  openGate,
  type PlannedWrite,
  type RunEnd,
  type WritePermit,
} from '../../api/write-gate.ts';
import { GuardError } from '../../kernel/errors.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { type LoggedWriteFacts, LogRecorder, type RecorderOptions } from '../../log/recorder.ts';
import { envelopeIn } from '../../log/recording-gate.ts';
import { readWrite, type WriteEffect, writeFactsOf } from '../../log/write-request.ts';
import { type EmailRecipients, EmailTally, emailsOfEnvelope, NO_EMAILS, UNKNOWN_EMAILS } from './emails.ts';
import { type Guards, requireWritable } from './guards.ts';

type CompleteRun = (end: RunEnd) => Promise<void>;

/** The name that a person must type or pass as --confirm where the guard `confirmName` applies. */
interface NameConfirmation {
  names: readonly [string, ...string[]];
  given: string | undefined;
  /** Prompts for the name. Undefined without a terminal. */
  ask: ((name: string) => Promise<string>) | undefined;
}

interface GateOptions extends Omit<RecorderOptions, 'account'> {
  /** Reads the guards in effect. They may change while a process runs, such as a server. */
  readGuards: () => Promise<Guards>;
  confirmation: NameConfirmation;
  /** Ends the requests that only check, before anything is written. */
  signal: AbortSignal;
}

/** Creates the gates of a command, one for each client. They count its emails together. */
export function guardedGate(options: GateOptions): OpenGate {
  const gate = new GuardedGate(options);
  return (send, account) => {
    const sender = { send, recorder: new LogRecorder({ ...options, account }) };
    return {
      pass: (request) => gate.pass(request, sender),
      check: (planned) => gate.check(planned, sender),
      resolve: (key, envelopeId) => sender.recorder.resolve(key, envelopeId),
      beginRun: (run) => gate.beginRun(run, sender.recorder),
    };
  };
}

/** Creates gates for writes that only a sandbox offers. They are not logged, and refused only if nothing may be written. */
export function readOnlyGate(guards: Guards): OpenGate {
  return (send, account) => ({
    ...openGate(send, account),
    async pass(request) {
      requireWritable(guards);
      return send(request);
    },
  });
}

/** A client: how it sends a request, and the entries of its account. */
interface Sender {
  send: SendRequest;
  recorder: LogRecorder;
}

/** Lets the writes of a command pass if the guards allow them, and records them in the log. */
class GuardedGate {
  readonly #options: GateOptions;
  /** The guards at the latest check. */
  #guards: Promise<Guards> | undefined;
  #tally = new EmailTally();
  /** Writes whose emails were counted. A retry emails nobody else. */
  readonly #counted = new Set<string>();
  /** The recipients of the drafts that this process created. */
  readonly #drafts = new Map<string, readonly string[]>();
  #mustConfirm = false;
  #confirming: Promise<void> | undefined;
  /** Begins the log entry of the bulk run that all writes belong to. */
  #beginRun: (() => Promise<CompleteRun>) | undefined;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Reads the guards, checks all writes of a command, and resets the count of emails. @throws GuardError */
  async check(planned: readonly PlannedWrite[], { send, recorder }: Sender): Promise<WritePermit> {
    this.#tally = new EmailTally();
    this.#counted.clear();
    const sends = planned.some((one) => one.action !== 'create' || one.sends);
    const facts: LoggedWriteFacts = {
      action: planned[0]?.action ?? 'other',
      effect: sends ? 'mails' : 'writes',
      envelopeIds: planned.flatMap((one) => ('envelopeId' in one ? one.envelopeId : [])),
      requestId: undefined,
    };
    const { confirmation, signal } = this.#options;
    this.#guards = this.#options.readGuards();
    await this.#recordingRefusal(facts, recorder, async (guards) => {
      if (!hasLimits(guards)) return;
      const tally = new EmailTally();
      const emailsOf = (one: PlannedWrite) => this.#emailsOf(one, (request) => send({ ...request, signal }));
      for await (const emails of mapInOrder(planned, READ_CONCURRENCY, emailsOf)) tally.add(emails, guards);
      this.#requireConfirmation(tally, guards);
    });
    const isConfirmed = this.#mustConfirm && confirmation.given !== undefined;
    const asksName = this.#mustConfirm && !isConfirmed;
    return { isConfirmed, asksName, confirm: () => this.#confirm() };
  }

  /** Checks, sends, and records a write. @throws GuardError */
  async pass(request: HttpRequest, { send, recorder }: Sender): Promise<HttpResponse> {
    const beginRun = this.#beginRun;
    const write = readWrite(request);
    const { action, envelopeId } = write;
    const facts = writeFactsOf(write, request);
    const guards = await this.#recordingRefusal(facts, recorder, (read) => this.#allow(write, read, send));
    await beginRun?.();
    // The rows of a run are in its journal. Those that may happen only once are in the log as well.
    const isRecorded = beginRun === undefined || request.once !== undefined;
    const sendNow = (hooks: WriteHooks = {}) => send({ ...request, ...hooks });
    const reply = await (isRecorded ? recorder.record(facts, sendNow, envelopeIn) : sendNow());
    const id = envelopeId ?? envelopeIn(reply);
    if (id !== undefined && hasLimits(guards)) {
      if (action === 'send') this.#drafts.delete(id);
      if (action === 'create' && write.emails !== undefined) this.#drafts.set(id, write.emails);
    }
    return reply;
  }

  beginRun({ id, sends }: { id: string; sends: boolean }, recorder: LogRecorder): CompleteRun {
    let started: Promise<CompleteRun> | undefined;
    this.#beginRun = () => {
      started ??= recorder.beginRun(id, sends);
      return started;
    };
    return async (end) => {
      this.#beginRun = undefined;
      // A run that wrote nothing has no entry. A run whose first write could not be recorded has none, either.
      const complete = await started?.catch(() => undefined);
      await complete?.(end);
    };
  }

  /** Makes a decision by the guards, records it if it is a refusal, and returns the guards. */
  async #recordingRefusal(
    write: LoggedWriteFacts,
    recorder: LogRecorder,
    decide: (guards: Guards) => Promise<void>,
  ): Promise<Guards> {
    this.#guards ??= this.#options.readGuards();
    const guards = await this.#guards;
    try {
      requireWritable(guards);
      await decide(guards);
      return guards;
    } catch (error) {
      if (error instanceof GuardError) await recorder.refused(write, error.code);
      throw error;
    }
  }

  /**
   * Checks a write immediately before it is sent. The envelope is read again: a prompt may have taken a while since all writes
   * were checked, and a draft may have been sent in the meantime. @throws GuardError
   */
  async #allow(write: WriteEffect, guards: Guards, send: SendRequest): Promise<void> {
    const { action, envelopeId, requestId } = write;
    if (action === 'cancel' || !hasLimits(guards)) return;
    const key = `${action} ${envelopeId ?? requestId ?? randomBytes(8).toString('hex')}`;
    if (this.#counted.has(key)) return;
    this.#tally.add(await this.#emailsOfWrite(write, send), guards);
    this.#counted.add(key);
    if (this.#confirming === undefined) this.#requireConfirmation(this.#tally, guards);
    await this.#confirm();
  }

  async #emailsOfWrite(write: WriteEffect, send: SendRequest): Promise<EmailRecipients> {
    const { action, envelopeId, emails, sends, signer } = write;
    if (action === 'create') return { to: emails, count: sends ? emails?.length : 0 };
    if (action === 'cancel') return NO_EMAILS;
    if (action === 'other' || envelopeId === undefined) return UNKNOWN_EMAILS;
    return this.#emailsOf({ action, envelopeId, signer }, send);
  }

  async #emailsOf(planned: PlannedWrite, send: SendRequest): Promise<EmailRecipients> {
    if (planned.action === 'create') {
      const { emails, sends, emailCount = emails.length } = planned;
      return { to: emails, count: sends ? emailCount : 0 };
    }
    if (planned.action === 'cancel') return NO_EMAILS;
    if (planned.action === 'other') return this.#emailsOfWrite(readWrite(planned.request), send);
    const draft = planned.action === 'send' ? this.#drafts.get(planned.envelopeId) : undefined;
    if (draft !== undefined) return { to: draft, count: draft.length };
    return emailsOfEnvelope(await requestEnvelope(planned.envelopeId, send), planned);
  }

  #requireConfirmation(tally: EmailTally, guards: Guards): void {
    const { confirmation } = this.#options;
    this.#mustConfirm = guards.confirmName !== null && tally.emailsSeveral;
    if (!this.#mustConfirm) return;
    const { given, ask, names } = confirmation;
    if (given !== undefined && !names.includes(given))
      throw notConfirmed(names, `"${given}" is a different name.`);
    if (given !== undefined) this.#confirming = Promise.resolve();
    else if (ask === undefined) throw notConfirmed(names, "--yes doesn't skip this check.");
  }

  /** Waits for the confirmation if one is required. @throws GuardError when the name is wrong or missing. */
  async #confirm(): Promise<void> {
    if (!this.#mustConfirm) return;
    this.#confirming ??= askName(this.#options.confirmation);
    await this.#confirming;
  }
}

async function askName({ names, ask }: NameConfirmation): Promise<void> {
  const typed = (await ask?.(names[0])) ?? '';
  if (!names.includes(typed.trim())) throw notConfirmed(names, "The name you typed doesn't match.");
}

function notConfirmed([name]: NameConfirmation['names'], why: string): GuardError {
  return new GuardError(
    'CONFIRMATION_REQUIRED',
    `This command emails more than one person, so you have to confirm it by entering the profile name ${name}. ${why}`,
    { hint: 'Type the name at the prompt. In scripts, add `--confirm NAME`.' },
  );
}

function hasLimits({ onlyTo, maxEmails, confirmName }: Guards): boolean {
  return onlyTo !== null || maxEmails !== null || confirmName !== null;
}

/** Reads an envelope to find out whom a write would email. */
async function requestEnvelope(id: string, send: SendRequest): Promise<Envelope> {
  const { body, status } = await send({ method: 'GET', path: `/esign/envelopes/${encodeURIComponent(id)}` });
  const { data } = readAs(resourceResponseSchema, body, 'an envelope', status);
  return readEnvelope(data, 'an envelope', status);
}
