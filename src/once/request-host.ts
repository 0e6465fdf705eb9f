import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/resource-types.ts';
import type { CreateEnvelopeBody } from '../api/resources.ts';
import type { PrecedenceFacts } from './precedence.ts';
import type { WordingField } from './wording.ts';

/** A request without a result. */
export interface OpenRequest {
  number: number;
  /** The request body of its draft, with its request ID in the metadata. */
  body: CreateEnvelopeBody;
}

/** How a request ended. `failed`: nobody was emailed for it by this process. `drafts`: those that the host wants to keep for now. */
export type RequestResult =
  | { kind: 'done'; envelope: Envelope; drafts?: readonly string[] | undefined }
  /** Someone else created the envelope: another command, run, or machine. */
  | {
      kind: 'existing';
      envelope: Envelope;
      changed: readonly WordingField[];
      drafts?: readonly string[] | undefined;
    }
  | { kind: 'failed'; error: Error; envelopeId?: string | undefined };

/**
 * The requests that are handled together: the one of `create` or all rows of a run. It contains what differs between the two: where the
 * requests are stored, how they take turns, and what an error means for the others.
 */
export interface RequestHost {
  client: Client;
  signal: AbortSignal | undefined;
  /** Whether the envelopes are sent; otherwise they stay drafts. */
  sends: boolean;
  /** Keeps other drafts of a request; they are in its result. */
  leavesDrafts: boolean;
  /** The maximum number of requests in progress. */
  parallel: number;
  /** The run that the requests belong to, if any. */
  run: string | undefined;
  /** Returns true once each request has a result. */
  isFinished(): boolean;
  /** Returns true for a request without a result. */
  isOpen(number: number): boolean;
  /** Yields the requests without a result, in order. */
  open(): AsyncIterable<OpenRequest> | Iterable<OpenRequest>;
  /** Returns the number of the request with the request ID of an envelope. */
  numberOf(envelope: Envelope): number | undefined;
  /** Returns the draft of a request, created or taken over. */
  draftOf(number: number): string | undefined;
  /** Returns the drafts of all requests without a result, with their numbers. */
  drafts(): ReadonlyMap<string, number>;
  /** Returns true if this process, or an earlier one of the same run, created the envelope for this request. */
  isOwn(number: number, envelopeId: string): boolean;
  /**
   * Returns true unless the request has an ID that the user gave, and the envelope another template or other signers: another machine used
   * the ID for something else.
   */
  hasSameContent(number: number, envelope: Envelope): Promise<boolean>;
  /**
   * Makes a request when its turn comes. `begins`: it begins the work on a request for signatures. `reads`: it only reads, so that it is
   * repeated after an outage.
   */
  ask<T>(
    request: (signal: AbortSignal | undefined) => Promise<T>,
    options?: { begins?: boolean; reads?: boolean },
  ): Promise<T>;
  /** Stores the draft of a request. It is durable when this resolves. `isOwn`: this process created it. */
  reserved(number: number, envelope: PrecedenceFacts, isOwn: boolean): Promise<void>;
  /** Called when the response to a create was lost. */
  lostResponse(): void;
  /** Forgets the draft of a request: it was canceled. */
  released(number: number): void;
  /** Records the result of a request. */
  finished(number: number, result: RequestResult): Promise<void>;
  /** Reports another envelope of a request that emailed its signers, or a draft that couldn't be canceled. */
  second(number: number, envelope: PrecedenceFacts, counted: PrecedenceFacts): Promise<void>;
  /** Returns the error if it concerns one request only. @throws otherwise, which ends the work. */
  requireOwnError(error: unknown): Error;
  /**
   * Returns the draft that counts for a request if the service shows no metadata, so that only this machine's records can decide.
   * @throws if they can't, either.
   */
  decideAlone(number: number): Promise<string>;
  /** Shows why the work waits; undefined once it continues. `msLeft`: how long, if that is known. */
  waits(why: string | undefined, msLeft?: number): void;
}
