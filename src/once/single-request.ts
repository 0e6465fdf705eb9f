import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/resource-types.ts';
import type { CreateEnvelopeBody } from '../api/resources.ts';
import type { OnSearchStart } from '../catalog/find-by-request-id.ts';
import { contentIn, requestIdOf } from '../catalog/markers.ts';
import { EarlierUnknownError, EsignError, sentenceOf, UnknownOutcomeError } from '../kernel/errors.ts';
import { errorWithState } from '../kernel/halfway-error.ts';
import { isAmbiguous } from '../kernel/request-failures.ts';
import { isVoid } from '../kernel/statuses.ts';
import { command } from '../kernel/text/shell-words.ts';
import { createKey } from '../log/write-keys.ts';
import type { WriteMemory } from '../log/write-memory.ts';
import { readQuietly } from './actions/send-or-cancel.ts';
import type { CreateWarning } from './created.ts';
import { cancelDraft } from './drafts.ts';
import { findCreates } from './logged-creates.ts';
import type { PrecedenceFacts } from './precedence.ts';
import { unprovenError } from './refusals.ts';
import type { OpenRequest, RequestHost, RequestResult } from './request-host.ts';
import { isForRequest } from './request-identity.ts';

interface SingleOptions {
  requestId: string;
  sends: boolean;
  leavesDrafts: boolean;
  memory: WriteMemory;
  signal: AbortSignal | undefined;
  searching: OnSearchStart | undefined;
}

/** The only request of a command. Its number is 1. */
export class SingleRequest implements RequestHost {
  readonly client: Client;
  readonly signal: AbortSignal | undefined;
  readonly sends: boolean;
  readonly leavesDrafts: boolean;
  readonly parallel = 1;
  readonly run = undefined;
  body: CreateEnvelopeBody | undefined;
  result: RequestResult | undefined;
  warning: CreateWarning | undefined;
  readonly others: PrecedenceFacts[] = [];
  hasLostResponse = false;
  readonly #options: SingleOptions;
  readonly #created = new Set<string>();
  #draft: string | undefined;
  #endWait: (() => void) | undefined;

  constructor(client: Client, options: SingleOptions) {
    this.client = client;
    this.signal = options.signal;
    this.sends = options.sends;
    this.leavesDrafts = options.leavesDrafts;
    this.#options = options;
  }

  isFinished(): boolean {
    return this.result !== undefined;
  }

  isOpen(): boolean {
    return this.result === undefined;
  }

  open(): OpenRequest[] {
    return this.body === undefined || this.isFinished() ? [] : [{ number: 1, body: this.body }];
  }

  numberOf(envelope: Envelope): number | undefined {
    return requestIdOf(envelope) === this.#options.requestId.normalize('NFC') ? 1 : undefined;
  }

  draftOf(): string | undefined {
    return this.#draft;
  }

  drafts(): ReadonlyMap<string, number> {
    return new Map(this.#draft === undefined ? [] : [[this.#draft, 1]]);
  }

  isOwn(_number: number, envelopeId: string): boolean {
    return this.#created.has(envelopeId);
  }

  async hasSameContent(_number: number, envelope: Envelope): Promise<boolean> {
    const { body } = this;
    return body === undefined || isForRequest(envelope, { ...body, content: contentIn(body) ?? '' });
  }

  async ask<T>(request: (signal: AbortSignal | undefined) => Promise<T>): Promise<T> {
    return request(this.signal);
  }

  lostResponse(): void {
    this.hasLostResponse = true;
  }

  async reserved(_number: number, { id }: PrecedenceFacts, isOwn: boolean): Promise<void> {
    this.#draft = id;
    if (isOwn) this.#created.add(id);
  }

  released(): void {
    this.#draft = undefined;
  }

  async finished(_number: number, result: RequestResult): Promise<void> {
    const draft = this.#draft;
    this.#draft = undefined;
    // It couldn't be sent.
    const isLeft = result.kind === 'failed' && draft !== undefined && draft === result.envelopeId;
    this.result = isLeft ? { ...result, error: this.#withDraft(result.error, draft) } : result;
    // The log then knows the envelope of a create whose response was lost.
    if (result.kind !== 'failed')
      await (await this.client.writes()).resolve(this.#options.requestId, result.envelope.id);
  }

  async second(_number: number, envelope: PrecedenceFacts): Promise<void> {
    this.others.push(envelope);
  }

  requireOwnError(error: unknown): Error {
    if (error instanceof EsignError) return error;
    throw error;
  }

  /**
   * Returns the draft that the log on this machine decides on: that of the first create with the request ID. All processes on this
   * machine see the same one.
   * @throws EarlierUnknownError if an earlier create has no outcome, because nothing can show it.
   */
  async decideAlone(): Promise<string> {
    const { requestId, memory } = this.#options;
    const creates = await findCreates(this.client, memory, [createKey(this.client.baseUrl, requestId)]);
    const ids: string[] = [];
    for (const { state, envelopeIds } of creates) {
      const [id] = envelopeIds;
      if (state !== 'done' || id === undefined) throw unprovenError(requestId);
      if (!isVoid(await this.client.envelopes.get(id, this.signal))) ids.push(id);
    }
    this.warning = notEchoed(requestId);
    const [first = this.#draft ?? '', ...others] = ids;
    const second = others.find((id) => id === this.#draft);
    if (second !== undefined)
      await cancelDraft(
        this.client,
        second,
        `another draft of the same request; ${first} counts`,
        this.signal,
      );
    return first;
  }

  waits(why: string | undefined): void {
    this.#endWait?.();
    this.#endWait = why === undefined ? undefined : this.#options.searching?.();
  }

  /**
   * After an error, finds out whether the draft of this process was sent in spite of it. Returns the error, which names a draft that is
   * left, or undefined if it was sent. It isn't canceled, because another machine may be sending it for the same request.
   */
  async explain(error: unknown): Promise<unknown> {
    this.waits(undefined);
    const id = this.#draft;
    if (id === undefined) return this.#withOutcome(error);
    const envelope = await readQuietly(this.client, id, this.signal).catch(() => undefined);
    if (envelope !== undefined && envelope.status !== 'DRAFT' && !isVoid(envelope)) {
      this.result = { kind: 'done', envelope };
      return undefined;
    }
    if ((!(error instanceof EsignError) && !this.signal?.aborted) || isVoid(envelope ?? {})) return error;
    if (envelope !== undefined) return this.#withDraft(error, id);
    const why = error instanceof EsignError ? sentenceOf(error) : 'Interrupted.';
    const hint = error instanceof EsignError ? error.hint : undefined;
    const state = `The draft ${id} may or may not have been sent.`;
    return new UnknownOutcomeError(`${why} ${state}`, { cause: error, hint });
  }

  /** Names a draft that wasn't sent in the error that prevented it. */
  #withDraft(error: unknown, id: string): Error {
    const state = `${id} is a draft. Nobody was emailed.`;
    if (!(error instanceof EsignError))
      return new UnknownOutcomeError(`Interrupted. ${state}`, { cause: error });
    const message = `${sentenceOf(error)} ${state}`;
    const facts = { cause: error, hint: error.hint };
    if (error instanceof EarlierUnknownError) return new EarlierUnknownError(message, facts);
    if (isAmbiguous(error)) return new UnknownOutcomeError(message, facts);
    const hint = `To send it, run the same command again. To cancel it, run \`${command('envelopes', 'cancel', id)}\`.`;
    return errorWithState(error, { state, outcome: 'unknown', hint });
  }

  /** Adds what is left to an error after a lost response. */
  #withOutcome(error: unknown): unknown {
    if (!isAmbiguous(error)) return error;
    const { requestId } = this.#options;
    return new UnknownOutcomeError(
      `${sentenceOf(error)} A draft may have been created (request ID ${requestId}). Nobody was emailed.`,
      { cause: error, hint: error.hint },
    );
  }
}

function notEchoed(requestId: string): CreateWarning {
  return {
    code: 'REQUEST_ID_NOT_ECHOED',
    message: `The service does not return the request ID ${requestId} in the envelope's metadata, so its use is recorded only on this machine. On another machine, the same ID would create a second envelope.`,
  };
}
